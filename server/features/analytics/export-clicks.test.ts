import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInstallation } from '../../../tests/faults/server-process.ts'
import { findSmallDiskProblem, toProcessPath, toSmallDiskCommand } from '../../../tests/faults/small-disk.ts'
import { quick } from '../../../tests/support/suite.ts'
import { until } from '../../../tests/support/until.ts'
import {
  onBothEngines,
  startServer,
  type TestServer,
  type TestWorkspace,
} from '../../../tests/support/world.ts'
import { prepareScratchDirectory } from '../../storage/export-directory.ts'
import { createRawHit } from '../hits/spool/raw-hit.fixture.ts'

const EXPORT = '/analytics/clicks/export'
const lines = (text: string) => text.trimEnd().split('\n')
const rowsOf = (text: string) => lines(text).map((line) => JSON.parse(line))
const scratch = ({ dataDir }: TestServer) => readdirSync(join(dataDir, 'tmp'))
const isPart = (name: string) => name.endsWith('.part')
const isClean = (server: TestServer) =>
  until('an empty scratch directory', () => scratch(server).length === 0)

onBothEngines('exporting clicks', (server) => {
  quick('sends a download with its length, named by workspace and range', async () => {
    const ws = await server().createWorkspace()
    await ws.createLink({ slug: `dl-${ws.id}` })
    await server().click(`dl-${ws.id}`)
    await server().waitUntilShipped()
    const range = 'start=2026-01-01&end=2100-01-31'
    const types = {
      csv: 'text/csv; charset=utf-8; header=present',
      ndjson: 'application/x-ndjson; charset=utf-8',
      parquet: 'application/vnd.apache.parquet',
    }
    for (const [format, type] of Object.entries(types)) {
      const { status, headers } = await ws.api(`${EXPORT}?format=${format}&${range}`)
      expect(status).toBe(200)
      expect(headers.get('content-type')).toBe(type)
      expect(headers.get('content-disposition')).toBe(
        `attachment; filename=clicks-${ws.id}-20260101T000000Z-21000201T000000Z.${format}`,
      )
      expect(Number(headers.get('content-length'))).toBeGreaterThan(100)
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-request-id')).toBeString()
      expect(headers.get('x-ratelimit-remaining')).toBeString()
      expect(Date.parse(headers.get('x-counted-until') ?? '')).toBeGreaterThan(server().now() - 60_000)
    }
    const csv = await ws.api(EXPORT)
    expect(csv.headers.get('content-type')).toStartWith('text/csv')
    expect(Buffer.byteLength(csv.text)).toBe(Number(csv.headers.get('content-length')))
    expect(lines(csv.text)).toHaveLength(2)
    await isClean(server())
  })

  test('answers HEAD with the headers of GET and no body', async () => {
    const ws = await server().createWorkspace()
    const get = await ws.api(`${EXPORT}?format=csv`)
    const head = await ws.api(`${EXPORT}?format=csv`, { method: 'HEAD' })
    expect([head.status, head.text]).toEqual([200, ''])
    for (const name of ['content-length', 'content-type']) {
      expect(head.headers.get(name)).toBe(get.headers.get(name) as string)
    }
    await isClean(server())
  })

  test('uses the current names of links, also for deleted ones', async () => {
    const ws = await server().createWorkspace()
    const [kept, gone] = [
      await ws.createLink({ slug: `kept-${ws.id}` }),
      await ws.createLink({ slug: `gone-${ws.id}` }),
    ]
    for (const { slug } of [kept, gone]) await server().click(slug)
    await server().waitUntilShipped()
    await ws.patch(`/links/${kept.id}`, { slug: `Renamed-${ws.id}` })
    await ws.delete(`/links/${gone.id}`)
    const { text } = await ws.api(`${EXPORT}?format=ndjson`)
    expect(rowsOf(text)).toMatchObject([
      { linkId: kept.id, slug: `Renamed-${ws.id}`, domain: kept.domain, class: 'human', trigger: 'link' },
      { linkId: gone.id, slug: `gone-${ws.id}`, domain: gone.domain },
    ])
  })

  quick('takes the filters of the counts, with the same results', async () => {
    const ws = await server().createWorkspace()
    const tagged = await ws.createLink({ slug: `tagged-${ws.id}`, tagNames: ['print'] })
    await ws.createLink({ slug: `plain-${ws.id}` })
    const referrer = { Referer: 'https://www.news.example/story?x=1' }
    await server().click(`tagged-${ws.id}?utm_source=mail`, referrer)
    await server().click(`tagged-${ws.id}?qr=1`)
    await server().click(`plain-${ws.id}?utm_source=mail,er`)
    await server().call(`/plain-${ws.id}`, { headers: { 'User-Agent': 'curl/8' } })
    await server().waitUntilShipped()
    const questions: [query: string, rows: number][] = [
      ['', 3],
      ['class=all', 4],
      ['class=bot', 1],
      [`linkId=${tagged.id}`, 2],
      [`tagId=${tagged.tags[0].id}`, 2],
      [`tagId=-${tagged.tags[0].id}`, 1],
      [`slug=TAGGED-${ws.id}`, 2],
      [`domain=${tagged.domain}`, 3],
      ['domain=other.example', 0],
      ['utmSource=mail', 1],
      ['utmSource=mail%5C%2Cer', 1],
      ['utmSource=mail&utmSource=mail%5C%2Cer', 2],
      ['referrer=news.example', 1],
      ['referrer=(direct)', 2],
      ['trigger=qr&device=mobile', 1],
      ['trigger=-qr', 2],
      ['interval=24h&timezone=Asia/Tokyo', 3],
      ['start=2020-01-01&end=2020-12-31&country=US', 0],
    ]
    // The other filters do not use the database.
    const ofRows = /^(linkId|tagId|slug|domain|)(=|$)/
    const asked = server().engine === 'sqlite' ? questions : questions.filter(([query]) => ofRows.test(query))
    for (const [query, count] of asked) {
      const { text } = await ws.api(`${EXPORT}?format=ndjson&${query}`)
      expect([query, text === '' ? 0 : lines(text).length]).toEqual([query, count])
      const counted = await ws.api(`/analytics/clicks?${query}`)
      expect([query, counted.json.data.clicks]).toEqual([query, count])
    }
  })

  test('makes text from strangers harmless for spreadsheets', async () => {
    const ws = await server().createWorkspace()
    await ws.createLink({ slug: `evil-${ws.id}` })
    const texts = ['=1+1', '"quoted", and more', 'two\r\nlines', '\u202Ertl', 'nul\0l', "@SUM('x')"]
    for (const text of texts) {
      await server().click(`evil-${ws.id}?utm_campaign=${encodeURIComponent(text)}`)
    }
    await server().waitUntilShipped()
    const { text } = await ws.api(`${EXPORT}?format=ndjson`)
    expect(rowsOf(text).map((row) => row.utmCampaign)).toEqual(texts.map((each) => each.replace('\0', '')))
    const csv = (await ws.api(`${EXPORT}?format=csv`)).text
    expect(csv).toContain(",'=1+1,")
    expect(csv).toContain(",\"'@SUM('x')\",".replaceAll('"', ''))
    expect(csv).toContain(',"""quoted"", and more",')
    expect(csv).toContain(',"two\r\nlines",')
    expect(csv).not.toContain('\0')
  })

  test('leaves no files when the client disconnects', async () => {
    const ws = await server().createWorkspace()
    const gone = new AbortController()
    const asked = fetch(`${server().origin}/v1${EXPORT}`, {
      headers: { Authorization: `Bearer ${ws.key}` },
      signal: gone.signal,
    })
    gone.abort()
    expect(asked).rejects.toThrow()
    await isClean(server())
    expect((await ws.api(EXPORT)).status).toBe(200)
  })
})

describe('a server that exports', () => {
  let server: TestServer
  let ws: TestWorkspace
  beforeAll(async () => {
    server = await startServer('sqlite')
    ws = await server.createWorkspace()
    await ws.createLink({ slug: 'one' })
    await server.click('one')
    await server.waitUntilShipped()
  })
  afterAll(() => server.close())

  test('sends a large file completely, although its name is deleted before the client has read it', async () => {
    // The test writes the file itself, so that it needs no million clicks.
    const dir = join(server.dataDir, 'tmp', 'big')
    mkdirSync(dir)
    const bytes = 16 * 1024 * 1024
    writeFileSync(join(dir, 'clicks.csv'), Buffer.alloc(bytes, 'clicks\n'))
    const { toFileBody } = await import('../../http/file-body.ts')
    const path = join(dir, 'clicks.csv')
    const sender = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request) =>
        new Response(toFileBody(request.method, path, () => rmSync(dir, { recursive: true })) as never),
    })
    const response = await fetch(sender.url)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let read = (await reader.read()).value?.length ?? 0
    await until('the name to be gone', () => !existsSync(dir))
    for (let part = await reader.read(); !part.done; part = await reader.read()) read += part.value.length
    expect(read).toBe(bytes)
    await sender.stop(true)
  })

  test('answers 503 when the engine is down, and keeps no files', async () => {
    const { hitWorker } = server.app
    // A worker that failed is started again after a moment, which a slow test may miss.
    const { headers, json } = await until('a refusal', async () => {
      server.failHitWorker()
      const answer = await ws.api(EXPORT)
      return answer.status === 503 ? answer : undefined
    })
    expect(json?.error).toBe('Analytics are temporarily unavailable. Clicks are still recorded.')
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(scratch(server)).toEqual([])
    await until('the engine to be back', () => hitWorker.state().engineUp)
    expect((await ws.api(EXPORT)).status).toBe(200)
  })

  quick(
    'stops when the client disconnects, and runs the next export',
    async () => {
      const busy = await server.createWorkspace()
      const { id: linkId } = await busy.createLink()
      for (let i = 0; i < 80_000; i++) {
        server.app.spool.append(createRawHit({ workspaceId: busy.id, linkId }))
        if (i % 5000 === 0) await until('room in the spool', () => server.app.spool.stats().waiting === 0)
      }
      await server.waitUntilShipped()
      const gone = new AbortController()
      const asked = fetch(`${server.origin}/v1${EXPORT}?format=parquet`, {
        headers: { Authorization: `Bearer ${busy.key}` },
        signal: gone.signal,
      })
      const listParts = (dir: string) => {
        try {
          return readdirSync(join(server.dataDir, 'tmp', dir)).filter(isPart)
        } catch (error) {
          // The export may have deleted its directory just after it was listed.
          if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
          return []
        }
      }
      const parts = () => scratch(server).flatMap(listParts)
      await until('the first part', () => parts().length > 0)
      gone.abort()
      expect(asked).rejects.toThrow()
      let most = 0
      await until('an empty scratch directory', () => {
        most = Math.max(most, parts().length)
        return scratch(server).length === 0
      })
      // A part has at most 20,000 clicks. All parts are on disk before they are joined.
      expect(most).toBeLessThan(4)
      const whole = await busy.api(`${EXPORT}?format=ndjson`)
      expect(lines(whole.text)).toHaveLength(80_000)
    },
    90_000,
  )

  quick('runs the exports of one workspace one after the other', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => ws.api(`${EXPORT}?format=ndjson`)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })
})

test('a start deletes the files of an export that crashed', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-scratch-'))
  mkdirSync(join(dataDir, 'tmp', 'export-x'), { recursive: true })
  writeFileSync(join(dataDir, 'tmp', 'export-x', 'clicks.csv'), 'secret')
  const path = prepareScratchDirectory(dataDir)
  expect(readdirSync(path)).toEqual([])
  rmSync(dataDir, { recursive: true })
})

test.skipIf(findSmallDiskProblem() !== undefined)(
  'a disk that is nearly full is left to the spool',
  async () => {
    const house = await createInstallation(1)
    const tmp = join(house.dataDir, 'tmp')
    mkdirSync(tmp)
    try {
      const server = await house.start({ commandPrefix: toSmallDiskCommand(tmp, 8 * 1024 * 1024) })
      const [key = ''] = house.keys
      const answer = await until('the engine to be open', async () => {
        const counted = await server.api(key, '/analytics/clicks')
        return counted.status === 200 ? await server.api(key, EXPORT) : undefined
      })
      const error = 'Analytics are temporarily unavailable. Clicks are still recorded.'
      expect([answer.status, answer.json]).toEqual([503, { error }])
      expect(answer.headers.get('retry-after')).toBeString()
      expect(readdirSync(toProcessPath(server.pid, tmp))).toEqual([])
      expect((await server.api(key, '/analytics/clicks')).status).toBe(200)
    } finally {
      await house.end()
    }
  },
  90_000,
)
