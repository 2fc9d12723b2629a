// Somebody copies the data directory while its server runs, and starts a server on the copy.

import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../support/until.ts'
import { createLinkOverHttp } from './click-counts.ts'
import { createFormOverHttp, sendSubmission } from './form-submissions.ts'
import {
  adoptInstallation,
  createInstallation,
  type Installation,
  type ServerProcess,
} from './server-process.ts'

const ENVIRONMENT = { TRUST_PROXY: '127.0.0.1' }
const WARNING = 'data_directory_was_copied_while_a_server_ran'

const installations: Installation[] = []
afterAll(() => Promise.all(installations.map((installation) => installation.end())))

const keep = (installation: Installation) => {
  installations.push(installation)
  return installation
}

async function startInstallation() {
  const installation = keep(await createInstallation(1))
  const server = await installation.start({ environment: ENVIRONMENT })
  const form = await createFormOverHttp(server, installation)
  await createLinkOverHttp('copied', installation.keys[0] as string, server)
  return { installation, server, form }
}

async function submit(server: ServerProcess, form: string, count: number) {
  for (let i = 0; i < count; i++) {
    const { status } = await sendSubmission(server, form, `m${i}`, 'script')
    expect(status).toBe(200)
    expect((await server.click('copied')).status).toBe(302)
  }
}

function copy({ dataDir, keys }: Installation): Installation {
  const target = mkdtempSync(join(tmpdir(), 'towpath-copy-'))
  cpSync(dataDir, target, { recursive: true, preserveTimestamps: true })
  return keep(adoptInstallation(target, keys))
}

test('a copy that is whole starts with a warning, and one of a stopped server without', async () => {
  const { installation, server, form } = await startInstallation()
  await submit(server, form, 5)
  const busyCopy = copy(installation)
  // The same directory after a crash is no copy.
  await server.kill()
  const again = await installation.start({ environment: ENVIRONMENT })
  expect(again.readOutput()).not.toContain(WARNING)
  expect(await again.stop()).toBe(0)
  expect(existsSync(join(installation.dataDir, 'server.running'))).toBe(false)
  const quietCopy = copy(installation)

  for (const [each, warns] of [
    [busyCopy, true],
    [quietCopy, false],
  ] as const) {
    const started = await each.start({ environment: ENVIRONMENT })
    expect(started.readOutput().includes(WARNING)).toBe(warns)
    const key = each.keys[0] as string
    expect((await started.api(key, `/forms/${form}`)).json.data.submissions).toBe(5)
    await until('every click to be counted once', async () => {
      const { json } = await started.api(key, '/links')
      return json.data[0].clicks === 5
    })
    await submit(started, form, 1)
    await started.kill()
  }
}, 240_000)

test('a server that is told to stop does so in order, from the moment on at which it is ready', async () => {
  const installation = keep(await createInstallation(1))
  const stop = async (server: ServerProcess) => {
    expect(await server.stop()).toBe(0)
    expect(server.readOutput()).toContain('"event":"stopped"')
    expect(existsSync(join(installation.dataDir, 'server.running'))).toBe(false)
  }
  const start = () => installation.start({ environment: { LOG_LEVEL: 'info' } })
  await stop(await start())
  // The same after the thread has begun that moves SQLite's log.
  const server = await start()
  const changedAt = () => statSync(join(installation.dataDir, 'towpath.db')).mtimeMs
  const before = changedAt()
  await createLinkOverHttp('moved', installation.keys[0] as string, server)
  await until('the log to be moved', () => changedAt() > before)
  await stop(server)
}, 240_000)

test('a copy whose database is damaged is refused with a sentence, at each start', async () => {
  const { installation, server, form } = await startInstallation()
  await submit(server, form, 10)
  const target = copy(installation)
  const [oldFile, newFile] = [target.dataDir, installation.dataDir].map((dir) => join(dir, 'towpath.db'))
  // As `cp` does when the server empties its log meanwhile: the file of an earlier moment, and the log of a later one.
  const other = new Database(newFile)
  await submit(server, form, 20)
  other.run('PRAGMA wal_checkpoint(TRUNCATE)')
  await submit(server, form, 1)
  cpSync(`${newFile}-wal`, `${oldFile}-wal`)
  other.close()

  const readFile = () => readFileSync(oldFile as string).toString('base64')
  for (let start = 0; start < 2; start++) {
    const refusal = await target.start({ environment: ENVIRONMENT }).then(
      () => 'it started',
      (error: Error) => error.message,
    )
    expect(refusal).toContain('The server ended with 1')
    expect(refusal).toMatch(
      /Towpath cannot start:\n {2}\S+ is a copy that was made while a server wrote to it/,
    )
    expect(refusal).toContain('towpath backup')
    expect(existsSync(join(target.dataDir, 'server.running'))).toBe(true)
  }
  expect(readFile().length).toBeGreaterThan(0)
}, 240_000)
