# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# c-ares: libcurl's resolver, so that a static executable needs no name service modules of glibc.

apply_series 'use-debian-googletest*' 'remove-shields*'

cmake_build -DCARES_STATIC=ON -DCARES_SHARED=OFF -DCARES_BUILD_TOOLS=OFF -DCARES_BUILD_TESTS=OFF
license LICENSE.md
