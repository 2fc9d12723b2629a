// Every click whose redirect was answered counts exactly once, although the process is killed.

import { describe, expect, test } from 'bun:test'
import { closeAfterAll } from '../support/close-after-all.ts'
import { atScale } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { createLinkOverHttp, readCountedClicks, waitUntilCountersAgree } from './click-counts.ts'
import { createInstallation, randomMs } from './server-process.ts'

const WORKERS = 16
/** Enough that a kill comes between many answers, on a slow machine too. */
const CLICKS_EACH = 15
const ROUNDS = atScale({ full: 2, soak: 5 })
/** Long, because the machine may be busy with other processes. */
const WITHIN_MS = 60_000

const closeLater = closeAfterAll()

describe('kill -9 under load', () => {
  test(`counts every answered click once and no other click, after ${ROUNDS} kills on one data directory`, async () => {
    // One key for each worker, so that reading the counts stays below the rate limit.
    const installation = await createInstallation(WORKERS)
    closeLater(installation.end)
    const answered = new Map<string, Set<string>>()
    const sent = new Map<string, Set<string>>()
    const keys = new Map<string, string>()
    for (let round = 0; round < ROUNDS; round++) {
      const server = await installation.start()
      let alive = true
      const sendClicks = async (worker: number) => {
        const slug = `r${round}w${worker}`
        const key = installation.keys[worker] as string
        const [sentMarkers, answeredMarkers] = [new Set<string>(), new Set<string>()]
        keys.set(slug, key)
        sent.set(slug, sentMarkers)
        answered.set(slug, answeredMarkers)
        await createLinkOverHttp(slug, key, server)
        while (alive && sentMarkers.size < 900) {
          const marker = `${slug}-${sentMarkers.size}`
          sentMarkers.add(marker)
          const answer = await server.click(`${slug}?utm_term=${marker}`).catch(() => {
            alive = false
          })
          if (answer?.status === 302) answeredMarkers.add(marker)
          else if (answer) throw new Error(`a click was answered with ${answer.status}`)
        }
      }
      const workers = Promise.all(Array.from({ length: WORKERS }, (_, worker) => sendClicks(worker)))
      await until(
        'each worker’s first clicks',
        () =>
          Array.from({ length: WORKERS }, (_, worker) => answered.get(`r${round}w${worker}`)).every(
            (markers) => markers && markers.size > CLICKS_EACH,
          ),
        WITHIN_MS,
      )
      await Bun.sleep(randomMs(0, 400))
      await server.kill()
      await workers
    }

    const server = await installation.start()
    let clicks = 0
    for (const [slug, markers] of answered) {
      const counted = await readCountedClicks(server, keys.get(slug) as string, slug)
      expect([...markers].filter((marker) => !counted.has(marker))).toEqual([])
      expect([...counted].filter(([marker, count]) => count !== 1 || !sent.get(slug)?.has(marker))).toEqual(
        [],
      )
      clicks += markers.size
    }
    expect(clicks).toBeGreaterThan(ROUNDS * WORKERS * CLICKS_EACH)
    await waitUntilCountersAgree(server, installation.keys)
    expect(await server.stop()).toBe(0)
  }, 300_000)
})
