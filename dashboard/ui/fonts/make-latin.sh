#!/bin/sh
# Makes inter-latin-400-700.woff2: the Latin characters of Inter in the weights of the dashboard, two thirds of the size of
# the package's file. Needs fonttools and brotli (https://fonttools.readthedocs.io). Run it when the package is updated.
set -e
cd "$(dirname "$0")"
source=../../../node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2
narrow=$(mktemp)
fonttools varLib.instancer "$source" wght=400:700 -o "$narrow"
pyftsubset "$narrow" --unicodes='*' --layout-features=kern,calt,ccmp,locl,mark,mkmk,tnum \
  --flavor=woff2 --output-file=inter-latin-400-700.woff2
rm "$narrow"
