// `npm run release` makes the commit and the tag of a release, or changes nothing and says why.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ROOT } from './support/architecture/read-checkout.ts'

describe('npm run release', () => {
  const clone = mkdtempSync(join(tmpdir(), 'towpath-clone-'))
  const git = (...words: string[]) => spawn(['git', ...words])
  const release = (...words: string[]) =>
    spawn([process.execPath, 'tests/support/release/cut-release.ts', ...words])
  const readText = (path: string) => readFileSync(join(clone, path), 'utf8')
  const readState = () => [
    git('status', '--porcelain').stdout,
    git('log', '--format=%s').stdout,
    git('tag').stdout,
  ]

  function spawn(command: string[]) {
    const { exitCode, stdout, stderr } = Bun.spawnSync(command, {
      cwd: clone,
      stdout: 'pipe',
      stderr: 'pipe',
    })
    return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
  }

  beforeAll(() => {
    // The files as they are now: what is tested may not be committed yet.
    const words = ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard']
    const paths = Bun.spawnSync(words, { cwd: ROOT }).stdout.toString().split('\0')
    for (const path of paths.filter(
      (path) => path && path !== 'node_modules' && existsSync(join(ROOT, path)),
    )) {
      mkdirSync(dirname(join(clone, path)), { recursive: true })
      cpSync(join(ROOT, path), join(clone, path))
    }
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
    git('init', '--quiet', '--initial-branch=main')
    git('config', 'user.name', 'Ann')
    git('config', 'user.email', 'ann@example.com')
    writeFileSync(join(clone, '.git/info/exclude'), 'node_modules\n')
    git('add', '--all')
    expect(git('commit', '--quiet', '--message', 'Begin').exitCode).toBe(0)
  })
  afterAll(() => rmSync(clone, { recursive: true, force: true }))

  test('refuses what is no next version, uncommitted changes and an empty section, and changes nothing', () => {
    const before = readState()
    const refusals: [string[], string][] = [
      [[], '"" is no version'],
      [['v99.0.0'], '"v99.0.0" is no version'],
      [['0.0.9'], '0.0.9 does not come after'],
    ]
    for (const [words, sentence] of refusals) {
      const { exitCode, stderr } = release(...words)
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining(sentence)])
    }
    writeFileSync(join(clone, 'new.txt'), '')
    expect(release('99.0.0').stderr).toContain('There are changes that are not committed')
    rmSync(join(clone, 'new.txt'))
    git('tag', 'v99.0.0')
    expect(release('99.0.0').stderr).toContain('The tag v99.0.0 exists')
    git('tag', '--delete', 'v99.0.0')
    expect(readState()).toEqual(before)
  })

  test('shows with --dry-run what it would do, and changes nothing', () => {
    const before = readState()
    const { exitCode, stdout } = release('99.0.0', '--dry-run')
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringContaining('Would write package.json, package-lock.json'),
    ])
    expect(readState()).toEqual(before)
  })

  test('takes everything back when a step fails', () => {
    const before = readState()
    writeFileSync(join(clone, '.git/hooks/pre-commit'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    const { exitCode, stderr } = release('99.0.0')
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('git commit')])
    expect(readState()).toEqual(before)
    rmSync(join(clone, '.git/hooks/pre-commit'))
  })

  test('sets the version, closes the sections, adds the data of the release, commits and tags', () => {
    const before = readText('CHANGELOG.md')
    expect(release('99.0.0')).toMatchObject({ exitCode: 0, stderr: '' })
    const lock = JSON.parse(readText('package-lock.json'))
    expect([JSON.parse(readText('package.json')).version, lock.version, lock.packages[''].version]).toEqual(
      Array(3).fill('99.0.0'),
    )
    const after = readText('CHANGELOG.md')
    const [heading = ''] = /## \[Unreleased\]\n\n## \[99\.0\.0\] - \d{4}-\d\d-\d\d\n/.exec(after) ?? []
    expect(after).toBe(before.replace('## [Unreleased]\n', heading))
    expect(readText('UPGRADING.md')).toContain('### Unreleased\n\n### 99.0.0\n\n')
    expect(git('describe').stdout.trim()).toBe('v99.0.0')
    expect(git('status', '--porcelain').stdout).toBe('')
    const changed = git('show', '--name-only', '--format=%s').stdout.trim().split('\n')
    expect(changed).toEqual([
      'Release 99.0.0',
      '',
      'CHANGELOG.md',
      'UPGRADING.md',
      'package-lock.json',
      'package.json',
      'tests/fixtures/data-99.0.0.json',
      'tests/fixtures/data-99.0.0.tar.gz',
    ])
    expect(JSON.parse(readText('tests/fixtures/data-99.0.0.json'))).toMatchObject({ version: '99.0.0' })
    // Only a section with changes can be released.
    expect(release('99.0.1').stderr).toContain('CHANGELOG.md says nothing about this release')
  })
})
