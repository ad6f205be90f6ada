"""What a server may send in place of a description or of data: tests/openml_server.py, a real one on loopback."""

from __future__ import annotations

from bad_case import Case

from tests.openml_server import Fault, OpenMLServer, Served

_CARD = """
name: sent
title: Sent
columns: {{a: numeric, y: target}}
positive: 1
split: {{kind: standard, train: 2}}
expect: {{rows: 4, columns: 1}}
openml: {{id: {id}, version: 1, name: sent, target: y}}
"""
_SMALL = "name: small\ndatasets: [sent.yaml]\nlearners: [tree]\nmethods: [direct]\n"
_ARFF = b"@relation sent\n@attribute a numeric\n@attribute y {0,1}\n@data\n1,0\n2,1\n3,0\n4,1\n"
_PLAIN = "is not encrypted, and plain http is spoken with this machine only; name a server with https"


def cases(server: OpenMLServer) -> list[Case]:
    """One a data set, which are registered with ``server``."""
    made: list[Case] = []

    def case(what: str, says: str, code: int = 1, url: str = "", **served: object) -> None:
        number = len(made) + 1
        server.add(Served(**({"id": number, "name": "sent", "target": "y", "arff": _ARFF} | served)))
        files = {"small.yaml": _SMALL, "sent.yaml": _CARD.format(id=number)}
        environment = {"PROBCAL_OPENML_SERVER": url or server.url, "PROBCAL_LARGEST_MB": "20"}
        made.append(Case("server", what, "fetch small.yaml", code, says, files, environment=environment))

    case("nothing bad: the data set", "sent: OpenML 1", 0)
    case("a description without end", "sends more than 64 MB", fault=Fault("endless"))
    case("data without end", "sends more than 20 MB", fault=Fault("endless", "arff"))
    case("data packed 1,000 to 1, without end", "sends more than 20 MB", fault=Fault("bomb", "arff"))
    case("a description packed so", "sends more than 64 MB", fault=Fault("bomb"))
    case("a redirection to plain http elsewhere", _PLAIN, fault=Fault("elsewhere"))
    case("data on a server without TLS", _PLAIN, root="http://elsewhere.invalid")
    case("data in a file of this machine", "No connection adapters", root="file:///etc")
    case("a server of plain http", _PLAIN, url="http://www.openml.invalid/api/v1/xml")
    case("a page for people", "what answers there is not OpenML", fault=Fault("page"))
    case("data without a description's checksum", "does not have the checksum", fault=Fault("damaged", "arff"))
    case("ARFF with an escape that there is none of", "Unsupported escape sequence",
         arff=_ARFF.replace(b"{0,1}", b"string").replace(b"1,0", b"1,'\\x4'"))  # fmt: skip
    case("20,000,000 equal values in a parquet file of kilobytes: the ARFF file is taken", "sent: OpenML 13", 0,
         parquet=_equal_values())  # fmt: skip
    return made


def _equal_values() -> bytes:
    import io

    import pyarrow as pa
    from pyarrow import parquet

    first = [0] * 1_000_000
    file, chunk = io.BytesIO(), pa.table({"a": pa.array([0.0]).take(first), "y": pa.array(["1"]).take(first)})
    with parquet.ParquetWriter(file, chunk.schema, compression="gzip") as writer:
        for _ in range(10):
            writer.write_table(chunk)
    return file.getvalue()
