// Changes one place of a source file and imports the changed copy, to show that a test would notice such a mistake.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
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

/**
 * Makes each mutant in turn, and runs the check on it.
 * @param check gets the exports of the files; it throws, or answers false, when they do something wrong
 * @returns the rules whose mutants the check did not detect
 */
export async function findSurvivors<Exports>(
  folder: string,
  files: readonly string[],
  mutants: readonly Mutant[],
  check: (copy: Exports) => unknown,
): Promise<string[]> {
  const into = mkdtempSync(join(tmpdir(), 'mutants-'))
  const survivors: string[] = []
  try {
    for (const [index, mutant] of mutants.entries()) {
      const copy = await importMutant(folder, files, mutant, join(into, String(index)))
      const isCaught = await Promise.try(check, copy as Exports).then(
        (answer) => answer === false,
        () => true,
      )
      if (!isCaught) survivors.push(mutant.name)
    }
  } finally {
    rmSync(into, { recursive: true })
  }
  return survivors
}

/** A rule, its text in the source, and what stands there instead. */
export type MutantRule = readonly [name: string, from: string, to: string]

/** The mutants of one file. */
export const toMutants = (file: string, rules: readonly MutantRule[]): Mutant[] =>
  rules.map(([name, from, to]) => ({ name, file, from, to }))

/** Copies import each other, and everything else from where it is. */
function redirectImports(text: string, path: string, folder: string, files: readonly string[]): string {
  const copied = files.map((each) => resolve(folder, each))
  return text.replace(/from '(\.[^']+)'/g, (whole, relative: string) => {
    const target = resolve(dirname(path), relative)
    return copied.includes(target) ? whole : `from '${target}'`
  })
}
