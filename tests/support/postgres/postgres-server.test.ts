import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createTestDatabase, startPostgres } from './postgres-server.ts'

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

test('a fresh database is empty, writable and nobody else’s', async () => {
  const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()])
  await ask(one.url, 'create table boats (id int)')
  await ask(two.url, 'create table boats (id int)')
  await one.drop()
  await one.drop()
  await expect(ask(one.url, 'select 1')).rejects.toThrow('does not exist')
  expect(await ask(two.url, 'select count(*)::int as boats from boats')).toEqual([{ boats: 0 }])
  await two.drop()
}, 240_000)

test('a durable server keeps what it acknowledged through every way to stop it', async () => {
  const server = await startPostgres({ durable: true })
  expect(await ask(server.url, 'show fsync')).toEqual([{ fsync: 'on' }])
  await ask(server.url, 'create table boats (id int)')
  for (const mode of ['smart', 'fast', 'immediate', 'kill'] as const) {
    await ask(server.url, 'insert into boats values (1)')
    await server.stop(mode)
    expect(server.running()).toBe(false)
    await expect(ask(server.url, 'select 1')).rejects.toThrow('ECONNREFUSED')
    await server.start()
  }
  expect(await ask(server.url, 'select count(*)::int as boats from boats')).toEqual([{ boats: 4 }])
  await server.end()
}, 240_000)

describe('however a test run ends, its server ends and its directory goes', () => {
  let workshop: string
  beforeAll(() => {
    workshop = mkdtempSync(join(tmpdir(), 'towpath-runs-'))
    writeFileSync(
      join(workshop, 'some.test.ts'),
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
  afterAll(() => rmSync(workshop, { recursive: true, force: true }))

  test.concurrent.each(['passing', 'failing', 'SIGINT', 'SIGKILL'] as const)(
    '%s',
    async (end) => {
      const run = Bun.spawn([process.execPath, 'test', '--preload', join(import.meta.dir, '../setup.ts')], {
        cwd: workshop,
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
      const deadline = Date.now() + 90_000
      while (existsSync(dir)) {
        if (Date.now() > deadline) throw new Error(`still there: ${dir}`)
        await Bun.sleep(50)
      }
      await expect(ask(url, 'select 1')).rejects.toThrow('ECONNREFUSED')
    },
    240_000,
  )
})
