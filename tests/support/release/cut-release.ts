// Makes the commit and the tag of a release: npm run release -- 1.2.0 [--dry-run]. Nothing leaves this machine: pushing the
// tag is what publishes (.github/workflows/release.yml).

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const ROOT = join(import.meta.dir, '../../..')
const VERSION = /^\d+\.\d+\.\d+$/

class ReleaseError extends Error {}

function run(...command: string[]): string {
  const child = Bun.spawnSync(command, { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' })
  if (!child.success) throw new ReleaseError(`${command.join(' ')} failed:\n${child.stderr}`)
  return child.stdout.toString().trim()
}

const readText = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** @throws ReleaseError with what stands in the way */
function requireReady(version: string, current: string): void {
  if (!VERSION.test(version)) throw new ReleaseError(`"${version}" is no version such as 1.2.0.`)
  if (Bun.semver.order(version, current) <= 0)
    throw new ReleaseError(`${version} does not come after ${current}, the version of package.json.`)
  if (run('git', 'status', '--porcelain'))
    throw new ReleaseError('There are changes that are not committed. Commit or remove them.')
  if (run('git', 'tag', '--list', `v${version}`))
    throw new ReleaseError(`The tag v${version} exists already.`)
}

/** @throws ReleaseError when the text is not there: the file has changed its form */
function replaceOnce(text: string, from: string, to: string, path: string): string {
  if (!text.includes(from)) throw new ReleaseError(`${path} has no "${from.trim()}".`)
  return text.replace(from, () => to)
}

/** @returns the new text of each file */
function editFiles(version: string, current: string, date: string): Record<string, string> {
  const setVersion = (path: string, times: number) => {
    let text = readText(path)
    for (let n = 0; n < times; n++)
      text = replaceOnce(text, `"version": "${current}"`, `"version": "${version}"`, path)
    return text
  }
  const startSection = (path: string, unreleased: string, released: string) =>
    replaceOnce(readText(path), `\n${unreleased}\n`, `\n${unreleased}\n\n${released}\n`, path)
  return {
    'package.json': setVersion('package.json', 1),
    // The lockfile names the version of the project twice, before those of the packages.
    'package-lock.json': setVersion('package-lock.json', 2),
    'CHANGELOG.md': startSection('CHANGELOG.md', '## [Unreleased]', `## [${version}] - ${date}`),
    'UPGRADING.md': startSection('UPGRADING.md', '### Unreleased', `### ${version}`),
  }
}

/** @throws ReleaseError when nothing has changed since the last release */
function readChanges(): string {
  const changes = /\n## \[Unreleased\]\n([\s\S]*?)(?=\n## |$)/.exec(readText('CHANGELOG.md'))?.[1]?.trim()
  if (!changes) throw new ReleaseError('CHANGELOG.md says nothing about this release below "Unreleased".')
  return changes
}

function makeRelease(version: string, edited: Record<string, string>): void {
  const fixtures = ['json', 'tar.gz'].map((ending) => `tests/fixtures/data-${version}.${ending}`)
  const paths = Object.keys(edited)
  try {
    for (const path of paths) writeFileSync(join(ROOT, path), edited[path] as string)
    // Later releases must open what this one writes.
    run(process.execPath, 'tests/support/upgrades/write-release-data.ts')
    run('git', 'add', '--', ...paths, ...fixtures)
    run('git', 'commit', '--quiet', '--message', `Release ${version}`)
  } catch (error) {
    run('git', 'restore', '--staged', '--worktree', '--', ...paths)
    for (const path of fixtures) {
      if (existsSync(join(ROOT, path)))
        run('git', 'rm', '--cached', '--quiet', '--ignore-unmatch', '--', path)
      rmSync(join(ROOT, path), { force: true })
    }
    throw error
  }
  run('git', 'tag', '--annotate', `v${version}`, '--message', `Towpath ${version}`)
}

function main(): void {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { 'dry-run': { type: 'boolean', default: false } },
  })
  const [version = ''] = positionals
  const { version: current } = JSON.parse(readText('package.json')) as { version: string }
  requireReady(version, current)
  const changes = readChanges()
  const edited = editFiles(version, current, new Date().toISOString().slice(0, 10))
  const files = `${Object.keys(edited).join(', ')} and tests/fixtures/data-${version}.tar.gz`
  if (values['dry-run']) {
    process.stdout.write(
      `${changes}\n\nWould write ${files}, commit "Release ${version}", and tag v${version}.\n`,
    )
    return
  }
  makeRelease(version, edited)
  process.stdout.write(
    `Committed ${files}, and tagged v${version}.\nLook at it with "git show", and publish it with "git push --follow-tags".\n`,
  )
}

try {
  main()
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
