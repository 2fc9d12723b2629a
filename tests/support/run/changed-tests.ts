// Finds the tests whose whole a change must run: the table in CONTRIBUTING.md says which belong to which folder.

import { readFileSync } from 'node:fs'

/** A row of the table: a path, and what tests it. */
export interface ChangeRule {
  path: string
  tests: string[]
}

/** @returns the rows of the table under "Tests of a change", whose cells name paths in backticks */
export function readChangeRules(page: string): ChangeRule[] {
  const section = page.split('## Tests of a change')[1]?.split('\n## ')[0] ?? ''
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  return rows.map((row) => {
    const [path = '', tests = ''] = row.split('|').slice(1, 3)
    const names = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
    return { path: names(path)[0] ?? '', tests: names(tests) }
  })
}

/** @returns what to run for these files: folders and files. The row with the longest path decides. */
export function findChangedTests(changed: string[], rules: ChangeRule[]): string[] {
  const found = new Set<string>()
  for (const file of changed) {
    if (/\.test\.tsx?$/.test(file)) found.add(file)
    const fitting = rules.filter(({ path }) => file.startsWith(path))
    const [rule] = fitting.sort((a, b) => b.path.length - a.path.length)
    for (const path of rule?.tests ?? []) found.add(path)
  }
  // A folder runs what is in it.
  return [...found]
    .filter((path) => ![...found].some((other) => other !== path && path.startsWith(other)))
    .sort()
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
