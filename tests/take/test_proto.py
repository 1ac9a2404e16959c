"""The generated code and the files' self-description follow take.proto."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory

import worldwright.take


def test_the_generated_code_is_that_of_the_proto_file(tmp_path: Path) -> None:
    pytest.importorskip("grpc_tools", reason="grpcio-tools is a development tool")
    folder = Path(worldwright.take.__file__).parent
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{folder}", f"--python_out={tmp_path}", str(folder / "take.proto")]
    subprocess.run(command, check=True, timeout=60)

    def code(path: Path) -> list[str]:
        return [line for line in path.read_text().splitlines() if "AddSerializedFile" in line]

    assert code(tmp_path / "take_pb2.py") == code(folder / "take_pb2.py")


def test_other_peoples_mcap_tools_read_a_take_without_our_code(take_path: Path) -> None:
    with take_path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        summary = reader.get_summary()
        assert summary is not None and summary.statistics is not None
        counts = {summary.channels[k].topic: n for k, n in summary.statistics.channel_message_counts.items()}
        assert counts["/sample"] == 121 and counts["/frame"] == 24 and counts["/end"] == counts["/header"] == 1
        for schema in summary.schemas.values():
            assert schema.encoding == "protobuf" and FileDescriptorSet.FromString(schema.data).file[0].package == "worldwright"
        decoded = [m for _, _, _, m in reader.iter_decoded_messages(topics=["/sample"])]
        assert [m.tick for m in decoded] == list(range(0, 241, 2))
        assert len(decoded[0].characters[0].bones) == 56
