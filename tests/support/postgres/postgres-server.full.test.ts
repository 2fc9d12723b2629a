// The PostgreSQL servers and databases that tests use: isolation, durability, and their end with the test run.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { until } from '../until.ts'
import { createTestDatabase, startPostgres } from './postgres-server.ts'

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

test('a test database is empty, writable and separate from the others', async () => {
  const [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()])
  await query(first.url, 'create table boats (id int)')
  await query(second.url, 'create table boats (id int)')
  await first.drop()
  await first.drop()
  await expect(query(first.url, 'select 1')).rejects.toThrow('does not exist')
  expect(await query(second.url, 'select count(*)::int as boats from boats')).toEqual([{ boats: 0 }])
  await second.drop()
}, 240_000)

test('a durable server keeps committed rows in every stop mode', async () => {
  const server = await startPostgres({ durable: true })
  expect(await query(server.url, 'show fsync')).toEqual([{ fsync: 'on' }])
  await query(server.url, 'create table boats (id int)')
  for (const mode of ['smart', 'fast', 'immediate', 'kill'] as const) {
    await query(server.url, 'insert into boats values (1)')
    await server.stop(mode)
    expect(server.running()).toBe(false)
    await expect(query(server.url, 'select 1')).rejects.toThrow('ECONNREFUSED')
    await server.start()
  }
  expect(await query(server.url, 'select count(*)::int as boats from boats')).toEqual([{ boats: 4 }])
  await server.end()
}, 240_000)

describe('when a test run ends, its server stops and its directory is removed', () => {
  let testDirectory: string
  beforeAll(() => {
    testDirectory = mkdtempSync(join(tmpdir(), 'towpath-runs-'))
    writeFileSync(
      join(testDirectory, 'some.test.ts'),
      `import { expect, test } from 'bun:test'
       import { startPostgres } from '${join(import.meta.dir, 'postgres-server.ts')}'
       test('runs', async () => {
         const { url, dir } = await startPostgres()
         process.stdout.write('url=' + url + ';dir=' + dir + ';')
         if (process.env.END === 'SIGINT' || process.env.END === 'SIGKILL') await new Promise(() => {})
         expect(process.env.END).toBe('passing')
       }, 200_000)`,
    )
  })
  afterAll(() => rmSync(testDirectory, { recursive: true, force: true }))

  test.concurrent.each(['passing', 'failing', 'SIGINT', 'SIGKILL'] as const)(
    '%s',
    async (end) => {
      const run = Bun.spawn([process.execPath, 'test', '--preload', join(import.meta.dir, '../setup.ts')], {
        cwd: testDirectory,
        env: { ...process.env, END: end },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'ignore',
      })
      let started: RegExpExecArray | null = null
      let output = ''
      for await (const chunk of run.stdout) {
        output += new TextDecoder().decode(chunk)
        started = /url=(.*?);dir=(.*?);/.exec(output)
        if (started) break
      }
      const [, url, dir] = started ?? []
      if (!url || !dir) throw new Error(`no server was started: ${output}`)
      if (end === 'SIGINT' || end === 'SIGKILL') {
        expect(existsSync(dir)).toBe(true)
        run.kill(end)
      }
      await run.exited
      await until(`${dir} to be gone`, () => !existsSync(dir), 90_000)
      await expect(query(url, 'select 1')).rejects.toThrow('ECONNREFUSED')
    },
    240_000,
  )
})
