// A full disk: writes are refused with 503, redirects continue, and everything works again once there is room.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { BEHIND_PROXY, nextSenderAddress } from '../support/form-requests.ts'
import { readMetric } from '../support/read-metrics.ts'
import { until } from '../support/until.ts'
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
  /** The path at which this process sees the data directory of the server. */
  let inside: string
  const acknowledged: string[] = []
  let clicks = 0

  beforeAll(async () => {
    installation = await createInstallation(1)
    key = installation.keys[0] as string
    const commandPrefix = toSmallDiskCommand(installation.dataDir, DISK_BYTES)
    server = await installation.start({
      commandPrefix,
      ...BEHIND_PROXY,
    })
    inside = toProcessPath(server.pid, installation.dataDir)
    expect((await create('known')).status).toBe(201)
    await click()
    await until('the analytics to have a click', async () => {
      const { status, json } = await server.api(key, '/analytics/clicks')
      return status === 200 && json.data.clicks === 1
    })
  })
  afterAll(() => installation?.end())

  let created = 0
  async function create(slug = `link-${created++}`) {
    const answer = await server.api(key, '/links', { slug, destinationUrl: 'https://example.com/' })
    if (answer.status === 201) acknowledged.push(slug)
    return answer
  }
  async function click(query = '') {
    const { status } = await server.click(`known${query}`)
    expect(status).toBe(302)
    clicks++
  }
  const filler = () => join(inside, 'filler')
  const getFreeBytes = () => {
    const { bavail, bsize } = statfsSync(inside)
    return bavail * bsize
  }
  const metric = (name: string) => readMetric(server.origin, name)

  test('refuses writes with 503 and Retry-After, and stores none of them', async () => {
    fillDisk(filler())
    expect(getFreeBytes()).toBe(0)
    const refused = await until('a write to be refused', async () => {
      const answer = await create()
      expect([201, 503]).toContain(answer.status)
      return answer.status === 503 ? answer : undefined
    })
    expect(refused.json).toEqual({ error: 'Temporarily unavailable' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    // Some may be stored: the log starts anew, in the room that it has, when the file has all of it.
    const many = await Promise.all(Array.from({ length: 30 }, () => create()))
    expect([201, 503]).toEqual(expect.arrayContaining([...new Set(many.map(({ status }) => status))]))
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

  test('reads links, redirects and answers 404 for unknown slugs as before', async () => {
    expect((await server.api(key, '/links?search=known')).json.data[0].slug).toBe('known')
    for (let i = 0; i < 20; i++) await click()
    expect((await server.click('unknown-to-all')).status).toBe(404)
  })

  test('loses no click when the spool is full and hits wait in memory', async () => {
    // Long records fill the 16 MiB of the segment with few requests. They come from many addresses, because the long
    // texts of one address have a budget.
    const values = ['source', 'medium', 'campaign', 'term', 'content'].map(
      (name) => `utm_${name}=${'x'.repeat(256)}`,
    )
    const long = `?${values.join('&')}`
    const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
    const headers = { 'User-Agent': browser.padEnd(512, 'u') }
    while ((await metric('towpath_hits_waiting')) < 100) {
      await Promise.all(
        Array.from({ length: 250 }, async () => {
          const referer = `https://example.org/${'y'.repeat(2000)}`
          const own = { Referer: referer, 'X-Forwarded-For': nextSenderAddress() }
          const init = { redirect: 'manual', headers: { ...headers, ...own } } as const
          const { status } = await fetch(`${server.origin}/known${long}`, init)
          expect(status).toBe(302)
          clicks++
        }),
      )
      expect(clicks).toBeLessThan(20_000)
    }
    expect(await metric('towpath_hits_dropped_total')).toBe(0)
  })

  test('takes writes again without a restart once there is room, and has stored exactly the acknowledged links', async () => {
    rmSync(filler())
    await until('writes to be taken', async () => (await create()).status === 201)
    await until('the server to be ready', async () => (await fetch(`${server.origin}/readyz`)).ok)
    const many = await Promise.all(Array.from({ length: 30 }, () => create()))
    expect(new Set(many.map(({ status }) => status))).toEqual(new Set([201]))
    // A copy, because SQLite resolves the path under /proc to the directory that the mount hides.
    for (const name of ['towpath.db', 'towpath.db-wal'])
      cpSync(join(inside, name), join(installation.dataDir, name))
    const database = new Database(join(installation.dataDir, 'towpath.db'))
    const stored = database.query('select slug from links order by id').values().flat()
    expect([...stored].sort()).toEqual([...acknowledged].sort())
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
