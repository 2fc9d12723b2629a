// `towpath import`, beside a running server and without one.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeAfterAll } from '../../../tests/support/close-after-all.ts'
import { openShell } from '../../../tests/support/processes/command-shell.ts'
import { onBothEngines, onSqlite } from '../../../tests/support/world.ts'

setDefaultTimeout(120_000)

const closeLater = closeAfterAll()

function createFile(text: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'towpath-import-'))
  closeLater(async () => rmSync(dir, { recursive: true, force: true }))
  const path = join(dir, 'links.csv')
  writeFileSync(path, text)
  return path
}

const toFile = (name: string) =>
  createFile(
    `slug,url\n${name}-1,https://example.com/1\n${name}-2,javascript:alert(1)\n${name}-3,https://example.com/3\n`,
  )

onBothEngines('npx towpath import', (server) => {
  test('beside a server: the server does it, and the report says what became of the rows', async () => {
    const ws = await server().createWorkspace()
    const { dataDir, databaseUrl, origin } = server()
    const shell = openShell({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl, TOWPATH_URL: origin })
    closeLater(shell.end)
    const run = (...words: string[]) => shell.run('import', ...words, '--workspace', String(ws.id))
    const file = toFile(`beside-${ws.id}`)
    const dry = await run(file, '--dry-run')
    expect([dry.code, dry.out.split('\n')[0]]).toEqual([
      0,
      expect.stringContaining('nothing is changed. Of 3 rows:'),
    ])
    expect(dry.err).toStartWith('Recognized as CSV. ')
    expect((await ws.api('/links')).json.total).toBe(0)

    const done = await run(file, '--source', 'csv', '--domain-map', `old.example=${new URL(origin).host}`)
    const id = /^Import (\d+) is done/.exec(done.out)?.[1]
    expect([done.code, done.out.split('\n').slice(1, 7)]).toEqual([
      0,
      [
        '  2 links created',
        '  0 skipped',
        '  1 failed',
        '  0 clicks of their history',
        'Errors:',
        '  row 3, destinationUrl: must be an http or https URL ("javascript:alert(1)")',
      ],
    ])
    expect((await server().click(`beside-${ws.id}-3`)).headers.get('location')).toBe('https://example.com/3')
    const undone = await run('--undo', id ?? '')
    expect([undone.code, undone.out]).toEqual([
      0,
      `Import ${id} is undone: everything it created is deleted.\n`,
    ])
    expect((await ws.api('/links')).json.total).toBe(0)
    const { json } = await ws.api('/imports')
    expect(json.data.map(({ status }: { status: string }) => status)).toEqual(['undone', 'done'])
  })
})

onSqlite('npx towpath import', (server) => {
  test('says what is wrong with its options and its file', async () => {
    const ws = await server().createWorkspace()
    const shell = openShell({ DATA_DIR: server().dataDir, TOWPATH_URL: server().origin })
    closeLater(shell.end)
    const refuse = async (...words: string[]) => {
      const { code, out, err } = await shell.run('import', ...words, '--workspace', String(ws.id))
      expect([code, out]).toEqual([1, ''])
      return err.trim().split('\n').at(-1)
    }
    const file = createFile('slug,url\n')
    expect(await refuse(file, '--on-conflict', 'never')).toBe(
      '--on-conflict must be one of skip, rename, fail.',
    )
    expect(await refuse(file, '--domain-map', 'x')).toBe('--domain-map is written as name=value,name=value.')
    expect(await refuse(join(file, 'nothing'), '--source', 'csv')).toBe(
      `There is no file ${join(file, 'nothing')}.`,
    )
    const mistyped = await shell.run('import', join(file, 'nothing'), '--workspace', String(ws.id))
    expect(mistyped.err).toBe(`There is no file ${join(file, 'nothing')}.\n`)
    expect(await refuse(createFile(''), '--source', 'csv')).toEndWith('is empty.')
    expect(await refuse(file, '--source', 'csv')).toMatch(/^Import \d+ has failed\. The file has no links/)
    expect(await refuse('--undo', '999999')).toBe('Import not found')
    expect(await refuse('--undo', '999999', '--dry-run')).toBe('--undo takes no --dry-run.')
  })
})

test('npx towpath import without a server does the work itself', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-import-'))
  closeLater(async () => rmSync(dataDir, { recursive: true, force: true }))
  const env = { DATA_DIR: dataDir, LOG_LEVEL: 'silent', PORT: '1' }
  const { run, end } = openShell(env)
  closeLater(end)
  const made = await run('workspace', 'create', 'Alone')
  const workspace = ['--workspace', String(JSON.parse(made.out).id)]
  const { code, out, err } = await run('import', toFile('alone'), '--source', 'csv', ...workspace)
  expect([code, out.split('\n')[1]]).toEqual([0, '  2 links created'])
  expect(err).toContain('%: ')
  expect(readdirSync(join(dataDir, 'imports'))).toEqual([])
  // Two at once: one of them waits, and goes on when the other has ended.
  const both = ['alone', 'other'].map((name) => run('import', toFile(name), '--source', 'csv', ...workspace))
  expect((await Promise.all(both)).map(({ out }) => out.split('\n').slice(1, 3))).toEqual([
    ['  0 links created', '  2 skipped'],
    ['  2 links created', '  0 skipped'],
  ])
  const undone = await run('import', '--undo', '1', ...workspace)
  expect([undone.code, undone.out]).toEqual([0, 'Import 1 is undone: everything it created is deleted.\n'])
})
