// Finds the full tests of a change by the table in CONTRIBUTING.md.

import { readFileSync } from 'node:fs'

/** A row of the table: a path, and what tests it. A `*` is one folder, in both. */
export interface ChangeRule {
  path: string
  tests: string[]
}

/** @returns the rows of the table under "The tests of a change", whose cells name paths in backticks */
export function readChangeRules(page: string): ChangeRule[] {
  const section = page.split('## The tests of a change')[1]?.split('\n## ')[0] ?? ''
  const readNames = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((row) => {
      const [, paths, tests] = row.split('|')
      return readNames(paths).map((path) => ({ path, tests: readNames(tests) }))
    })
}

/** @returns the tests of these files: folders and files. The first matching row of a file decides. */
export function findChangedTests(changed: string[], rules: ChangeRule[]): string[] {
  const found = new Set<string>()
  for (const file of changed) {
    if (/\.test\.tsx?$/.test(file)) found.add(file)
    for (const { path, tests } of rules) {
      const fits = new RegExp(`^${path.replace('*', '([\\w-]+)')}`).exec(file)
      if (!fits) continue
      for (const each of tests) found.add(each.replace('*', fits[1] ?? ''))
      break
    }
  }
  const isInside = (path: string) =>
    [...found].some((other) => other !== path && path.startsWith(`${other}/`))
  return [...found].filter((path) => !isInside(path)).sort()
}

/** The files that differ from the branch main, or that main's last commit changed. */
export function listChangedFiles(): string[] {
  const git = (...words: string[]) => {
    const { stdout, stderr, success } = Bun.spawnSync(['git', ...words])
    if (!success) throw new Error(`git ${words.join(' ')}: ${stderr}`)
    return stdout.toString().split('\n').filter(Boolean)
  }
  const [base = 'HEAD'] = git('merge-base', 'HEAD', 'main')
  const open = [...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')]
  return open.length > 0 ? open : git('diff', '--name-only', 'HEAD~1')
}

export const readContributing = () => readFileSync('CONTRIBUTING.md', 'utf8')
