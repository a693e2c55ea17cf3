# SPDX-License-Identifier: Apache-2.0
"""A recipe for Spack: copy it to packages/syncwatch/package.py of a repository of yours."""
from spack.package import *


class Syncwatch(AutotoolsPackage):
    """Finds races and needless waits in CUDA programs, without recompiling them."""

    license("Apache-2.0")

    # From a tree: spack develop --path /path/to/syncwatch syncwatch@=0.2.0
    version("0.2.0")

    depends_on("c", type="build")
    depends_on("autoconf", type="build")
    depends_on("automake@1.16:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cuda@13:", type="build")
    depends_on("elfutils")
    depends_on("jansson")
    depends_on("libunwind", when="target=x86_64:")
    depends_on("lz4")
    depends_on("sqlite")
    depends_on("zlib-api")
    depends_on("zstd")

    conflicts("platform=darwin")
    conflicts("platform=windows")

    def autoreconf(self, spec, prefix):
        Executable("./bootstrap")()

    def configure_args(self):
        return ["--without-nvcc", f"--with-cuda={self.spec['cuda'].prefix}"]

    def setup_run_environment(self, env):
        env.prepend_path("PATH", self.prefix.bin)
