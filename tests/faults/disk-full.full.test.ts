// A full disk: links and submissions are refused with 503, redirects continue, and everything works again in the same
// process once there is room. What is stored is what was acknowledged, and each click counts once.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { BEHIND_PROXY, nextSenderAddress } from '../support/form-requests.ts'
import { readMetric } from '../support/read-metrics.ts'
import type { HttpAnswer } from '../support/server/http-call.ts'
import { until } from '../support/until.ts'
import { createLinkOverHttp } from './click-counts.ts'
import {
  createFormOverHttp,
  isAcknowledged,
  readMarker,
  type SubmissionMode,
  sendSubmission,
} from './form-submissions.ts'
import { createInstallation, type Installation, type ServerProcess } from './server-process.ts'
import { fillDisk, findSmallDiskProblem, toProcessPath, toSmallDiskCommand } from './small-disk.ts'

// Room for three spool segments of 16 MiB, so that the filler file decides when the disk is full.
const DISK_BYTES = 64 * 1024 * 1024
const reason = findSmallDiskProblem()

setDefaultTimeout(120_000)

describe.skipIf(reason !== undefined)(`a full disk${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let installation: Installation
  let server: ServerProcess
  let key: string
  let form: string
  /** The path at which this process sees the data directory of the server. */
  let inside: string
  const stored = { links: [] as string[], submissions: [] as string[] }
  let clicks = 0
  let sent = 0

  beforeAll(async () => {
    installation = await createInstallation(1)
    key = installation.keys[0] as string
    const commandPrefix = toSmallDiskCommand(installation.dataDir, DISK_BYTES)
    server = await installation.start({ commandPrefix, ...BEHIND_PROXY })
    inside = toProcessPath(server.pid, installation.dataDir)
    form = await createFormOverHttp(server, installation)
    for (const mode of ['script', 'native'] as const) expect(await submit(mode)).toBeUndefined()
    expect((await create('known')).status).toBe(201)
    await click()
    await until('the analytics to have a click', async () => {
      const { status, json } = await server.api(key, '/analytics/clicks')
      return status === 200 && json.data.clicks === 1
    })
  })
  afterAll(() => installation?.end())

  async function create(slug = `link-${sent++}`) {
    const answer = await createLinkOverHttp(slug, key, server)
    if (answer.status === 201) stored.links.push(slug)
    return answer
  }
  const createMany = async () =>
    new Set((await Promise.all(Array.from({ length: 30 }, () => create()))).map(({ status }) => status))
  /** @returns the answer when it does not acknowledge the submission */
  async function submit(mode: SubmissionMode): Promise<HttpAnswer | undefined> {
    const marker = `marker-${sent++}`
    const answer = await sendSubmission(server, form, marker, mode)
    if (!isAcknowledged(answer, mode)) return answer
    stored.submissions.push(marker)
    return undefined
  }
  const submitMany = () =>
    Promise.all(Array.from({ length: 64 }, (_, i) => submit(i % 2 ? 'script' : 'native')))
  async function click() {
    expect((await server.click('known')).status).toBe(302)
    clicks++
  }
  const metric = (name: string) => readMetric(server.origin, name)

  test('refuses links with 503 and Retry-After, and stores none of them', async () => {
    fillDisk(join(inside, 'filler'))
    expect(statfsSync(inside).bavail).toBe(0)
    const refused = await until('a write to be refused', async () => {
      const answer = await create()
      expect([201, 503]).toContain(answer.status)
      return answer.status === 503 ? answer : undefined
    })
    expect(refused.json).toEqual({ error: 'Temporarily unavailable' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    // Some may be stored: the log starts anew, in the room that it has, when the file has all of it.
    expect([201, 503]).toEqual(expect.arrayContaining([...(await createMany())]))
  })

  test('is reported by /readyz, while /livez is fine', async () => {
    const ready = await until('the log to have no room', async () => {
      await create()
      const answer = await fetch(`${server.origin}/readyz`)
      return answer.status === 503 ? answer : undefined
    })
    expect(Number(ready.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await fetch(`${server.origin}/livez`)).status).toBe(200)
  })

  test('refuses scripts with 503 as JSON, and forms without JavaScript with a page', async () => {
    const refused = await until('a submission to be refused', () => submit('script'))
    expect([refused.status, refused.json]).toEqual([503, { error: 'Temporarily unavailable' }])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
    expect(refused.headers.get('access-control-expose-headers')).toBe('Retry-After')
    const native = await submit('native')
    expect([native?.status, native?.headers.get('location')]).toEqual([503, null])
    expect(Number(native?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(native?.text).toContain('<h1>Please try again in a moment</h1>')
    expect(new Set((await submitMany()).map((answer) => answer?.status))).toEqual(new Set([503]))
  })

  test('reads, redirects, and answers what needs no write, as before', async () => {
    expect((await server.api(key, '/links?search=known')).json.data[0].slug).toBe('known')
    for (let i = 0; i < 20; i++) await click()
    expect((await server.click('unknown-to-all')).status).toBe(404)
    expect((await sendSubmission(server, 'aaaaaaaaaa', 'x', 'script')).status).toBe(404)
    expect((await server.submit(form, '{', { 'Content-Type': 'application/json' })).status).toBe(400)
  })

  test('loses no click when the spool is full and hits wait in memory', async () => {
    // Long records fill the 16 MiB of the segment with few requests. They come from many addresses, because the long
    // texts of one address have a budget.
    const values = ['source', 'medium', 'campaign', 'term', 'content'].map(
      (name) => `utm_${name}=${'x'.repeat(256)}`,
    )
    const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
    const headers = {
      'User-Agent': browser.padEnd(512, 'u'),
      Referer: `https://example.org/${'y'.repeat(2000)}`,
    }
    while ((await metric('towpath_hits_waiting')) < 100) {
      await Promise.all(
        Array.from({ length: 250 }, async () => {
          const own = { ...headers, 'X-Forwarded-For': nextSenderAddress() }
          expect((await server.click(`known?${values.join('&')}`, own)).status).toBe(302)
          clicks++
        }),
      )
      expect(clicks).toBeLessThan(20_000)
    }
    expect(await metric('towpath_hits_dropped_total')).toBe(0)
  })

  test('takes writes again without a restart once there is room, and has stored exactly the acknowledged ones', async () => {
    rmSync(join(inside, 'filler'))
    await until('links to be taken', async () => (await create()).status === 201)
    await until('submissions to be taken', async () => (await submit('script')) === undefined)
    await until('the server to be ready', async () => (await fetch(`${server.origin}/readyz`)).ok)
    expect(await createMany()).toEqual(new Set([201]))
    expect(await submitMany()).toEqual(Array(64).fill(undefined))
    // A copy, because SQLite resolves the path under /proc to the directory that the mount hides.
    for (const name of ['towpath.db', 'towpath.db-wal'])
      cpSync(join(inside, name), join(installation.dataDir, name))
    const database = new Database(join(installation.dataDir, 'towpath.db'))
    const slugs = database.query('select slug from links').values().flat()
    expect(slugs.sort()).toEqual(stored.links.toSorted())
    const rows = database.query('select fields from submissions').values() as [string][]
    expect(rows.map(([fields]) => readMarker(fields)).sort()).toEqual(stored.submissions.toSorted())
    expect(database.query('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    database.close()
  })

  test('counts every click once when there is room again', async () => {
    for (let i = 0; i < 20; i++) await click()
    const link = async () => (await server.api(key, '/links?search=known')).json.data[0].clicks
    await until('every click to be in the analytics', async () => {
      const { status, json } = await server.api(key, '/analytics/clicks')
      if (status !== 503) expect(json.data.clicks).toBeLessThanOrEqual(clicks)
      return status === 200 && json.data.clicks === clicks
    })
    await until('every click to be on the link', async () => (await link()) === clicks)
    expect(await metric('towpath_hits_waiting')).toBe(0)
    expect(await metric('towpath_hits_dropped_total')).toBe(0)
    expect(readdirSync(inside).filter((name) => name.includes('.corrupt-'))).toEqual([])
    expect(await server.stop()).toBe(0)
  })
})
