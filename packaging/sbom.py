"""sbom.py VERSION OUTPUT: a bill of materials (CycloneDX 1.6, JSON) of what is inside the tool and the libraries: Debian packages that
are compiled in or linked statically, in the versions of this machine. Needs cyclonedx-python-lib[json-validation]."""

import subprocess
import sys
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

#: Debian package, licence, and whether wgrun runs without it.
PARTS = (
    ("liblua5.4-dev", "MIT", False), ("libfmt-dev", "MIT", False), ("libcli11-dev", "BSD-3-Clause", False),
    ("nlohmann-json3-dev", "MIT", False), ("libedit-dev", "BSD-3-Clause", False), ("libncurses-dev", "MIT-open-group", False),
    ("libbsd-dev", "BSD-3-Clause", False), ("libstdc++-{gcc}-dev", "GPL-3.0-or-later WITH GCC-exception-3.1", False),
    ("libisl-dev", "MIT", True),  # inside of the wheel; the other packages open it at run time
    ("libgmp-dev", "LGPL-3.0-or-later OR GPL-2.0-or-later", True),  # isl's
)


def said(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def component(package: str, license_of: str, optional: bool) -> Component:
    version = said("dpkg-query", "-W", "-f", "${Version}", package)
    return Component(
        name=package, version=version, type=ComponentType.LIBRARY, bom_ref=package,
        licenses=[LicenseFactory().make_from_string(license_of)],
        scope=ComponentScope.OPTIONAL if optional else ComponentScope.REQUIRED,
        purl=PackageURL("deb", "debian", package, version, {"arch": said("dpkg", "--print-architecture")}))


def main() -> None:
    version, output = sys.argv[1:]
    bom = Bom()
    bom.metadata.component = Component(
        name="wgrun", version=version, type=ComponentType.APPLICATION, bom_ref="wgrun", licenses=[LicenseFactory().make_from_string("MIT")])
    gcc = said("g++", "-dumpversion").split(".")[0]
    parts = [component(package.format(gcc=gcc), license_of, optional) for package, license_of, optional in PARTS]
    bom.components.update(parts)
    bom.register_dependency(bom.metadata.component, parts)
    text = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=2)
    wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if wrong:
        raise SystemExit(f"{output}: {wrong}")
    Path(output).write_text(text + "\n", "utf-8")


main()
