// The packages of an installation: their licences, and the bill of materials that a release has.

import { describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { isAllowedLicence, judgeLicences, type LockedPackage } from '../support/packages/licences.ts'

const ROOT = join(import.meta.dir, '../..')
const LOCKFILE = join(ROOT, 'package-lock.json')

async function runScript(...words: string[]) {
  const child = Bun.spawn(['npm', 'run', '--silent', ...words], { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { status: await child.exited, output, errors }
}

describe('npm run audit:licences', () => {
  test('accepts every package of this repository', async () => {
    const { status, output, errors } = await runScript('audit:licences')
    expect([status, errors.includes('Refused')]).toEqual([0, false])
    expect(output).toMatch(/^ *\d+ {2}MIT$/m)
  })

  test('names a package with another licence, and fails', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'licences-'))
    try {
      const lockfile = await Bun.file(LOCKFILE).json()
      lockfile.packages['node_modules/copyleft'] = { version: '1.2.3', license: 'AGPL-3.0-only' }
      const path = join(directory, 'package-lock.json')
      await Bun.write(path, JSON.stringify(lockfile))
      const { status, errors } = await runScript('audit:licences', '--', path)
      expect(status).toBe(1)
      expect(errors).toContain('copyleft@1.2.3: has the licence AGPL-3.0-only, which is not allowed.')
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  const judge = (locked: Record<string, LockedPackage>, exceptions = [EXCEPTION]) =>
    judgeLicences({ packages: { '': {}, ...locked } }, exceptions).problems
  const EXCEPTION = { name: 'special', licence: 'MPL-2.0', developmentOnly: true, why: 'a test' }
  const SPECIAL = { 'node_modules/special': { version: '1.0.0', license: 'MPL-2.0', dev: true } }

  test('takes an exception for development only, and only while a package needs it', () => {
    expect(judge(SPECIAL)).toEqual([])
    expect(judge({ 'node_modules/special': { version: '1.0.0', license: 'MPL-2.0' } })).toEqual([
      'special@1.0.0: may have the licence MPL-2.0 for development only, and an installation has it.',
    ])
    expect(judge({})).toEqual([
      'special: no package with this name has the licence MPL-2.0. Remove the exception.',
    ])
    expect(judge({ ...SPECIAL, 'node_modules/a/node_modules/special': { license: 'GPL-3.0' } })).toHaveLength(
      1,
    )
  })

  test('refuses a package without a licence, unless it is a build for a system of one with a licence', () => {
    const main = { license: 'MIT', optionalDependencies: { 'main-darwin': '1.0.0' } }
    const build = { version: '1.0.0', os: ['darwin'] }
    expect(judge({ 'node_modules/main': main, 'node_modules/main-darwin': build }, [])).toEqual([])
    const missing = ['main-darwin@1.0.0: names no licence. Ask its authors, or use another package.']
    expect(judge({ 'node_modules/main-darwin': build }, [])).toEqual(missing)
    expect(
      judge({ 'node_modules/main': main, 'node_modules/main-darwin': { version: '1.0.0' } }, []),
    ).toEqual(missing)
  })

  test.each([
    ['MIT', true],
    ['(MIT OR GPL-2.0)', true],
    ['GPL-2.0 OR MIT AND ISC', true],
    ['MIT AND GPL-2.0', false],
    ['MIT AND (ISC OR GPL-2.0)', true],
    ['(MIT AND (GPL-2.0 OR LGPL-3.0))', false],
    ['Apache-2.0 WITH LLVM-exception', false],
    ['SEE LICENSE IN LICENSE.md', false],
    ['UNLICENSED', false],
    ['', false],
  ])('reads the expression "%s"', (expression, allowed) => {
    expect(isAllowedLicence(expression)).toBe(allowed)
  })
})

describe('the lockfile', () => {
  test('names one version of each package that this repository asks for, and no range', () => {
    for (const version of Object.values({ ...manifest.dependencies, ...manifest.devDependencies }))
      expect(version).toMatch(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/)
  })

  test('has a SHA-512 of every package that Linux on x64 installs, and lets one run a script', async () => {
    const { packages } = await Bun.file(LOCKFILE).json()
    const locked = Object.entries(packages as Record<string, LockedPackage>).filter(([path]) => path !== '')
    // npm wrote this lockfile without the hashes of builds for machines that it was not written on.
    const isForThisMachine = ([, { os, cpu, libc }]: (typeof locked)[number]) =>
      (!os || os.includes('linux')) && (!cpu || cpu.includes('x64')) && !libc?.includes('musl')
    const unhashed = locked.filter(
      (each) => isForThisMachine(each) && !each[1].integrity?.startsWith('sha512-'),
    )
    expect(unhashed.map(([path]) => path)).toEqual([])
    const withScript = locked.filter(([, { hasInstallScript }]) => hasInstallScript)
    expect(withScript.map(([path]) => path)).toEqual(['node_modules/bun'])
    expect(Object.keys(manifest.allowScripts)).toEqual(['bun'])
  })
})

describe('npm run sbom', () => {
  test('writes CycloneDX with every package of an installation, and none for development only', async () => {
    const { status, output } = await runScript('sbom')
    expect(status).toBe(0)
    const bill = JSON.parse(output)
    expect(bill).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: expect.stringMatching(/^1\.\d$/),
      metadata: { component: { type: 'application', name: 'towpath', version: manifest.version } },
    })
    const { packages } = await Bun.file(LOCKFILE).json()
    const locked = Object.entries(packages as Record<string, LockedPackage>)
    const listed = new Map<string, { version: string; purl: string; hashes?: unknown[] }>(
      bill.components.map((component: { 'bom-ref': string }) => [component['bom-ref'], component]),
    )
    for (const [path, { name, version, dev }] of locked) {
      if (path === '' || dev) continue
      const own = name ?? path.replace(/^.*node_modules\//, '')
      expect(listed.get(`${own}@${version}`)).toMatchObject({
        version,
        purl: expect.stringMatching(/^pkg:npm\//),
      })
    }
    for (const [name, version] of Object.entries(manifest.dependencies))
      expect(listed.has(`${name}@${version}`)).toBe(true)
    for (const name of ['axe-core', 'typescript', 'playwright-core'])
      expect([...listed.keys()].filter((ref) => ref.startsWith(`${name}@`))).toEqual([])
    const [root] = bill.dependencies.filter(
      ({ ref }: { ref: string }) => ref === `towpath@${manifest.version}`,
    )
    expect(root.dependsOn).toContain(`hono@${manifest.dependencies.hono}`)
  })
})
