"""Provide a Java class that leaves a mark when an object of it is read, XML files with URLs, and a local server."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

_CLASS = """
c-n1|$xZ@65QhI|8yp8^bq9kBf)|b+G$sa+V2mEnF?wsDLxv19WTtU@D=%U+@d11&W6dBg(N4OnyXvp1ue;ygpI-s&U`s^+K?NZVVMG|>J$}v0Cbzof(^g
NkB|~J-unf7+5G<B-1yKgg7a4Z>&@e?5DrxEm)q3qrg@%}d84a_D|0>qJbEW8$uq&jnt{Do&;~!D!7*=<;^w*_ALDFMOF=YNr(LF^*!yM)rVr@roDNe+VN
9Ge>DOmLQc!xSGSY}91=$pbZxM|$;mZy!o{!tf>YuMI#qsqXJsAR>qT*)n|b8{%d7!Sq}s@NS$Q>kNT@>ID`LMlFXHLSr<5~|>RLM3(Wwk-yd8n_Ay45{x
6eMOMR0(}a@l0R3FC7YwB0j&Cd`Y2lS<VlcaWW(Ddum_(kfHkbs>V>li(vD;=P%e{GPnaGd@rd-rSh_(oMERS*2XcgRg#
"""
"""Gadget.class, compiled for Java 11:

public class Gadget implements java.io.Serializable {
    private static final long serialVersionUID = 1L;
    private void readObject(java.io.ObjectInputStream stream) throws Exception {
        new java.io.File(System.getenv("GADGET")).createNewFile();
    }
}
"""
_OBJECT = b"\xac\xed\x00\x05sr\x00\x06Gadget" + (1).to_bytes(8, "big") + b"\x02\x00\x00xp"
_NETWORK = '<BIF VERSION="0.3"><NETWORK><NAME>{}</NAME></NETWORK></BIF>'
XML = {
    "entity": ('<!DOCTYPE BIF [<!ENTITY x SYSTEM "{url}/entity">]>', "&x;"),
    "parameter": ('<!DOCTYPE BIF [<!ENTITY % x SYSTEM "{url}/parameter"> %x;]>', "a"),
    "dtd": ('<!DOCTYPE BIF SYSTEM "{url}/dtd">', "a"),
}
"""The ways in which an XML file has others fetched."""


def prepare(folder: Path, url: str) -> dict[str, str]:
    """Write ``gadget.ser`` and the XML files; return the environment in which Java finds the class of the object."""
    (folder / "Gadget.class").write_bytes(zlib.decompress(base64.b85decode("".join(_CLASS.split()))))
    (folder / "gadget.ser").write_bytes(_OBJECT)
    for name, (head, body) in XML.items():
        text = f'<?xml version="1.0"?>\n{head.format(url=url)}\n{_NETWORK.format(body)}\n'
        (folder / f"{name}.xml").write_text(text)
    return {"GADGET": str(folder / "mark"), "JAVA_TOOL_OPTIONS": f"-Xbootclasspath/a:{folder}"}


@contextmanager
def server() -> Iterator[tuple[str, list[str]]]:
    """Yield (address, requested paths) of a local server that accepts every request."""
    asked: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as serving:
        Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_address[1]}", asked
        serving.shutdown()
