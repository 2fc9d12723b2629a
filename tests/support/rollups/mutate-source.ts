// Changes one place of a source file and imports the changed copy, to show that a test would notice such a mistake.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

export interface Mutant {
  /** The rule that the mutant ignores. */
  name: string
  file: string
  from: string
  to: string
}

/**
 * Copies some files of a folder, with the mutant's change, and imports them.
 * @param files their paths within the folder
 * @param into an empty directory for the copies
 * @returns the exports of all files
 * @throws when the text to change is not there exactly once: then the mutant no longer fits the source
 */
export async function importMutant(
  folder: string,
  files: readonly string[],
  { name, file, from, to }: Mutant,
  into: string,
): Promise<Record<string, unknown>> {
  if (!files.includes(file)) throw new Error(`${name}: ${file} is not copied`)
  for (const each of files) {
    let text = readFileSync(join(folder, each), 'utf8')
    if (each === file) {
      if (text.split(from).length !== 2) throw new Error(`${name}: ${file} does not have once: ${from}`)
      text = text.replace(from, () => to)
    }
    mkdirSync(dirname(join(into, each)), { recursive: true })
    writeFileSync(join(into, each), redirectImports(text, resolve(folder, each), folder, files))
  }
  const modules = await Promise.all(files.map((each) => import(join(into, each))))
  return Object.assign({}, ...modules)
}

/** Copies import each other, and everything else from where it is. */
function redirectImports(text: string, path: string, folder: string, files: readonly string[]): string {
  const copied = files.map((each) => resolve(folder, each))
  return text.replace(/from '(\.[^']+)'/g, (whole, relative: string) => {
    const target = resolve(dirname(path), relative)
    return copied.includes(target) ? whole : `from '${target}'`
  })
}
