// Makes world-outlines.json: an SVG path for each country, by its ISO 3166-1 code. The outlines are those of Natural Earth
// (public domain), from the npm package world-atlas (ISC). The product needs none of these packages. In an empty directory:
//   npm install world-atlas@2 topojson-client@3 d3-geo@3 i18n-iso-countries@7
//   node {this file} . > {this directory}/world-outlines.json

import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const require = createRequire(join(resolve(process.argv[2] ?? '.'), 'package.json'))
const load = async (name) => {
  const module = await import(pathToFileURL(require.resolve(name)).href)
  return module.default ?? module
}
const { feature } = await load('topojson-client')
const { geoNaturalEarth1, geoPath, geoArea, geoCentroid } = await load('d3-geo')
const { numericToAlpha2 } = require('i18n-iso-countries')

const WIDTH = 1000
const read = (name) => {
  const topology = require(`world-atlas/${name}`)
  return feature(topology, topology.objects.countries).features
}
/** Kosovo, Northern Cyprus and Somaliland have no number. */
const CODES_BY_NAME = { Kosovo: 'XK', 'N. Cyprus': 'CY', Somaliland: 'SO' }
const toCode = ({ id, properties }) => numericToAlpha2(id) ?? CODES_BY_NAME[properties.name]

// The coarse outlines lack small countries. The finer ones have them, and say where they are.
const coarse = read('countries-110m.json').filter((each) => toCode(each) !== 'AQ')
const fine = read('countries-50m.json')
const projection = geoNaturalEarth1().fitWidth(WIDTH, { type: 'FeatureCollection', features: coarse })
const path = geoPath(projection).digits(0)

/** Absolute points to relative ones, which are shorter: `M1,2L3,4Z` to `M1 2l2 2z`. */
function shorten(text) {
  return text.replace(/M([^MZ]*)Z/g, (_, ring) => {
    const points = ring.split('L').map((point) => point.split(',').map(Number))
    const [first, ...others] = points
    let [x, y] = first
    const steps = others.flatMap(([nextX, nextY]) => {
      const step = [nextX - x, nextY - y]
      x = nextX
      y = nextY
      return step[0] === 0 && step[1] === 0 ? [] : [step.join(' ')]
    })
    return steps.length < 2 ? '' : `M${first.join(' ')}l${steps.join(' ').replaceAll(' -', '-')}z`
  })
}

const outlines = new Map()
for (const each of coarse) {
  const code = toCode(each)
  if (code) outlines.set(code, (outlines.get(code) ?? '') + shorten(path(each)))
}
// A dot of two pixels, which can be seen and clicked.
for (const each of fine) {
  const code = toCode(each)
  if (!code || code === 'AQ' || (outlines.get(code) ?? '') !== '' || geoArea(each) === 0) continue
  const [x, y] = projection(geoCentroid(each)).map(Math.round)
  outlines.set(code, `M${x - 2} ${y}a2 2 0 1 0 4 0a2 2 0 1 0-4 0z`)
}
const height = Math.ceil(path.bounds({ type: 'FeatureCollection', features: coarse })[1][1])
const sorted = Object.fromEntries([...outlines].sort(([a], [b]) => a.localeCompare(b)))
process.stdout.write(`${JSON.stringify({ width: WIDTH, height, paths: sorted }, null, 2)}\n`)
