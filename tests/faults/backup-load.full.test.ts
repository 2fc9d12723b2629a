// A backup beside a server under load of clicks, submissions, new links and deletions: what was acknowledged before its
// moment is in the restored installation, once.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../server/storage/database/open-database.ts'
import { closeAfterAll } from '../support/close-after-all.ts'
import { BEHIND_PROXY } from '../support/form-requests.ts'
import { migratedDatabase } from '../support/migrated-database.ts'
import { getPostgresPrograms } from '../support/postgres/postgres-programs.ts'
import { createDatabase, dropAfterFile } from '../support/postgres/postgres-server.ts'
import { atScale } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { createLinkOverHttp, readCountedClicks } from './click-counts.ts'
import { isAcknowledged, readMarker, sendSubmission } from './form-submissions.ts'
import { startLoadGenerator } from './load-generator.ts'
import { runCommand } from './move-command.ts'
import {
  adoptInstallation,
  createInstallation,
  type Installation,
  type ServerProcess,
} from './server-process.ts'

setDefaultTimeout(300_000)

const closeLater = closeAfterAll()

/** Analytics list at most 1,000 values, so each link gets fewer clicks, each with a term of its own. */
const CLICKS_A_LINK = 900
const LINKS = atScale({ full: 2, soak: 40 })
const CLICKERS = 4
const CLICK_PAUSE_MS = atScale({ full: 20, soak: 1 })
const BACKUPS = { sqlite: atScale({ full: 2, soak: 6 }), postgres: atScale({ full: 1, soak: 6 }) }

const toLink = (click: number) => `load${Math.floor(click / CLICKS_A_LINK)}`

interface Acknowledged {
  name: string
  /** When the answer was here. */
  at: number
}

interface Load {
  clicks: Acknowledged[]
  submissions: Acknowledged[]
  stop(): Promise<void>
}

function startLoad(server: ServerProcess, key: string, form: string): Load {
  const clicks: Acknowledged[] = []
  const submissions: Acknowledged[] = []
  const clicking = startLoadGenerator(CLICKERS, async (number) => {
    await Bun.sleep(CLICK_PAUSE_MS)
    if (number >= LINKS * CLICKS_A_LINK) return { status: 204, headers: new Headers() }
    const answer = await server.click(`${toLink(number)}?utm_term=c${number}`)
    if (answer.status === 302) clicks.push({ name: `c${number}`, at: Date.now() })
    return answer
  })
  const submitting = startLoadGenerator(2, async (number) => {
    const answer = await sendSubmission(server, form, `s${number}`, 'script')
    if (isAcknowledged(answer, 'script')) submissions.push({ name: `s${number}`, at: Date.now() })
    return answer
  })
  // Links come, are clicked, and go, so that ids are given out and given up beside the backup.
  const deleting = startLoadGenerator(1, async (number) => {
    await Bun.sleep(300)
    const { json } = await createLinkOverHttp(`short${number}`, key, server)
    await server.click(`short${number}`)
    const headers = { Authorization: `Bearer ${key}` }
    const url = `${server.origin}/v1/links/${json.data.id}`
    return fetch(url, { method: 'DELETE', headers })
  })
  return {
    clicks,
    submissions,
    stop: async () => void (await Promise.all([clicking.stop(), submitting.stop(), deleting.stop()])),
  }
}

const newDirectory = () => {
  const dir = mkdtempSync(join(tmpdir(), 'towpath-backups-'))
  closeLater(async () => rmSync(dir, { recursive: true, force: true }))
  return dir
}

const readBackupManifest = (dir: string) => JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8'))

/** Runs a command as the page of a backup says it. */
async function runInShell(command: string, databaseUrl: string) {
  const PATH = `${getPostgresPrograms()}:${process.env.PATH}`
  const child = Bun.spawn(['sh', '-c', command], { env: { PATH, DATABASE_URL: databaseUrl }, stderr: 'pipe' })
  const problem = await new Response(child.stderr).text()
  expect([await child.exited, problem]).toEqual([0, ''])
}

/** Beside the load: with PostgreSQL its dump first. @returns the moment before which everything must be there */
async function makeBackup({ dataDir, databaseUrl }: Installation, dir: string, since?: string) {
  const at = Date.now()
  if (databaseUrl)
    await runInShell(`pg_dump --format=custom --file=${dir}.pgdump "$DATABASE_URL"`, databaseUrl)
  const words = ['backup', dir, ...(since ? ['--since', since] : [])]
  const { code, output } = await runCommand(dataDir, words, toEnvironment(databaseUrl))
  expect([code, output]).toEqual([0, expect.stringContaining(`towpath restore ${dir}`)])
  return databaseUrl ? at : Date.parse(readBackupManifest(dir).takenAt)
}

const toEnvironment = (databaseUrl: string | undefined) =>
  databaseUrl ? { DATABASE_URL: databaseUrl } : undefined

/** Does what RESTORE.txt says. */
async function restoreElsewhere({ keys, databaseUrl }: Installation, backup: string): Promise<Installation> {
  const database = databaseUrl ? dropAfterFile(await createDatabase()) : undefined
  const dataDir = newDirectory()
  if (database) {
    const lines = readFileSync(join(backup, 'RESTORE.txt'), 'utf8').split('\n')
    const commands = lines.filter((line) => /^ {2}(pg_restore|psql) /.test(line))
    expect(commands).toHaveLength(2)
    for (const command of commands) await runInShell(`${command} > /dev/null`, database.url)
  }
  const { code, output } = await runCommand(dataDir, ['restore', backup], toEnvironment(database?.url))
  expect([code, output]).toEqual([0, expect.stringContaining('Restored the installation')])
  const restored = adoptInstallation(dataDir, keys, database?.url)
  closeLater(restored.end)
  return restored
}

async function expectEachSubmissionOnce(restored: Installation, load: Load, before: number) {
  const db = await openDatabase(restored)
  const rows = await db.read.selectFrom('submissions').select('fields').execute()
  const deliveries = await db.read.selectFrom('deliveries').select(['submission_id', 'channel_id']).execute()
  await db.close()
  const markers = rows.map(({ fields }) => readMarker(fields))
  const stored = new Set(markers)
  expect(stored.size).toBe(markers.length)
  const promised = load.submissions.filter(({ at }) => at < before)
  expect(promised.length).toBeGreaterThan(0)
  expect(promised.filter(({ name }) => !stored.has(name))).toEqual([])
  // One delivery for each submission and channel.
  expect(new Set(deliveries.map((row) => JSON.stringify(row))).size).toBe(deliveries.length)
  expect(deliveries.length).toBe(markers.length)
}

async function expectEachClickOnce(server: ServerProcess, key: string, load: Load, before: number) {
  const counted = new Map<string, number>()
  const byLink = new Map<string, number>()
  for (let link = 0; link < LINKS; link++) {
    const clicks = await readCountedClicks(server, key, `load${link}`)
    for (const [term, count] of clicks) counted.set(term, count)
    byLink.set(`load${link}`, clicks.size)
  }
  const promised = load.clicks.filter(({ at }) => at < before)
  expect(promised.length).toBeGreaterThan(0)
  expect(promised.filter(({ name }) => !counted.has(name))).toEqual([])
  expect([...counted].filter(([, clicks]) => clicks !== 1)).toEqual([])
  await until('the counters of the links to agree with analytics', async () => {
    const { json, status } = await server.api(key, '/links?limit=100&search=load')
    const links: { slug: string; clicks: number }[] = status === 200 ? json.data : []
    return links.length === LINKS && links.every(({ slug, clicks }) => byLink.get(slug) === clicks)
  })
}

/** Nothing listens at the channel's address: its deliveries wait. @returns the form's key */
async function createFormWithChannel(server: ServerProcess, key: string): Promise<string> {
  const url = 'https://receiver.invalid/'
  const channel = await server.api(key, '/channels', { type: 'webhook', name: 'w', url })
  const form = await server.api(key, '/forms', { name: 'Contact', channelIds: [channel.json.data.id] })
  expect([channel.status, form.status]).toEqual([201, 201])
  return form.json.data.formKey
}

/** A workspace that has clicks in the batches, and is deleted before the backup. @returns its id */
async function deleteClickedWorkspace({ dataDir, keys, databaseUrl }: Installation, server: ServerProcess) {
  const key = keys[1] as string
  await createLinkOverHttp('gone', key, server)
  await server.click('gone?utm_term=Nobody-May-Read-This')
  await readCountedClicks(server, key, 'gone')
  const environment = toEnvironment(databaseUrl)
  const db = await openDatabase({ dataDir, databaseUrl })
  const { id } = await db.read
    .selectFrom('workspaces')
    .select('id')
    .where('name', '=', 'Workspace 1')
    .executeTakeFirstOrThrow()
  await db.close()
  expect((await runCommand(dataDir, ['workspace', 'delete', String(id), '--yes'], environment)).code).toBe(0)
}

const holds = (dir: string, text: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text))

for (const engine of ['sqlite', 'postgres'] as const)
  test(`a backup under load has each acknowledged submission and click once (${engine})`, async () => {
    const installation = await createInstallation(
      2,
      engine === 'postgres' ? (await migratedDatabase()).url : undefined,
    )
    closeLater(installation.end)
    const [key] = installation.keys as [string]
    const server = await installation.start(BEHIND_PROXY)
    await deleteClickedWorkspace(installation, server)
    for (let link = 0; link < LINKS; link++) await createLinkOverHttp(`load${link}`, key, server)
    const form = await createFormWithChannel(server, key)
    const load = startLoad(server, key, form)
    closeLater(load.stop)
    const backups = newDirectory()
    const moments: number[] = []
    for (let n = 0; n < BACKUPS[engine]; n++) {
      // A slow machine may have made all clicks during the backup before.
      const before = Math.min(load.clicks.length, LINKS * CLICKS_A_LINK - 2 * CLICKERS) + CLICKERS
      await until('clicks and submissions', () => load.clicks.length > before && load.submissions.length > n)
      moments.push(
        await makeBackup(installation, join(backups, `${n}`), n > 0 ? join(backups, `${n - 1}`) : undefined),
      )
    }
    await load.stop()
    expect(await server.stop()).toBe(0)
    const last = join(backups, `${BACKUPS[engine] - 1}`)
    const before = moments.at(-1) as number

    const restored = await restoreElsewhere(installation, last)
    await expectEachSubmissionOnce(restored, load, before)
    const again = await restored.start(BEHIND_PROXY)
    await expectEachClickOnce(again, key, load, before)
    expect((await again.click('gone')).status).toBe(404)
    // No id of what was made after the backup comes again.
    const { id } = (await createLinkOverHttp('later', key, again)).json.data
    expect(id).toBeGreaterThan(1_000_000)
    await until(
      'the deleted workspace to be erased here as well',
      () => holds(restored.dataDir, 'Nobody-May-Read-This').length === 0,
    )
    expect(await again.stop()).toBe(0)
  })
