// Imports each icon from its own file. The bundler would put the icons of all pages into the first file, where the
// package's list of icons is.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PluginBuilder } from 'bun'

const PACKAGE = join(Bun.resolveSync('lucide-react', import.meta.dir), '../../esm')
const LIST = join(PACKAGE, 'lucide-react.mjs')

/** Gives each file that imports icons its own list. */
const SUFFIX = '.icons'

/** Icons have several names. */
function readIconFiles(): Map<string, string> {
  const list = readFileSync(LIST, 'utf8')
  return new Map(
    [...list.matchAll(/^export \{ (.*) \} from '(.*)'/gm)].flatMap(([, names = '', file = '']) =>
      names.split(', ').map((name) => [name.replace('default as ', ''), join(PACKAGE, file)] as const),
    ),
  )
}

const readIconNames = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/import \{([^}]*)\} from 'lucide-react'/g)].flatMap(
    ([, names = '']) => names.split(',').map((name) => name.trim().replace(/ as .*/, '')),
  )

/**
 * Icons that several areas have are in the first file, or in the one that later areas share: each would be a file of its
 * own.
 * @param sources the files of the dashboard
 * @param findArea undefined for a file that several areas share
 * @param isLater the file is loaded after the first page
 * @returns the files of the icons that only later areas share
 */
export function bundleIcons(
  build: PluginBuilder,
  sources: string[],
  findArea: (file: string) => string | undefined,
  isLater: (file: string) => boolean,
): string[] {
  const files = readIconFiles()
  const areas = new Map<string, Set<string | undefined>>()
  const early = new Set<string>()
  for (const source of sources) {
    for (const name of readIconNames(source)) {
      areas.set(name, (areas.get(name) ?? new Set()).add(findArea(source)))
      if (!isLater(source)) early.add(name)
    }
  }
  const isShared = (name: string) => areas.get(name)?.size !== 1 || areas.get(name)?.has(undefined)
  const toExport = (name: string) =>
    isShared(name) && early.has(name)
      ? `export { ${name} } from ${JSON.stringify(LIST)}\n`
      : `export { default as ${name} } from ${JSON.stringify(files.get(name))}\n`
  build.onResolve({ filter: /^lucide-react$/ }, ({ importer }) => ({
    path: importer + SUFFIX,
    namespace: 'icons',
  }))
  build.onLoad({ filter: /.*/, namespace: 'icons' }, ({ path }) => ({
    contents: readIconNames(path.slice(0, -SUFFIX.length))
      .filter((name) => files.has(name))
      .map(toExport)
      .join(''),
    loader: 'js',
  }))
  return [...areas.keys()].flatMap((name) =>
    isShared(name) && !early.has(name) ? (files.get(name) ?? []) : [],
  )
}
