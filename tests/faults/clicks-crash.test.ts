// A click whose redirect was answered is counted exactly once, however the process ends.

import { describe, expect, test } from 'bun:test'
import { closeAfterAll } from '../support/close-after-all.ts'
import { atScale } from '../support/scale.ts'
import { until } from '../support/until.ts'
import { createLinkOverHttp, readCountedClicks, waitUntilCountersAgree } from './click-counts.ts'
import { createInstallation, randomMs } from './server-process.ts'

const WORKERS = 16
/** Enough that a kill falls among many answers, however slow the machine. */
const CLICKS_EACH = 15
const ROUNDS = atScale({ test: 2, soak: 5 })
/** For a machine that is busy with other things. */
const WITHIN_MS = 60_000

const closeLater = closeAfterAll()

describe('kill -9 under load', () => {
  test(`${ROUNDS} times on one directory: every answered click counts once, and none that was never sent`, async () => {
    // One key for each worker and round, so that reading the answers stays below the limit of requests.
    const installation = await createInstallation(WORKERS)
    closeLater(installation.end)
    const answered = new Map<string, Set<string>>()
    const sent = new Map<string, Set<string>>()
    const keyOf = new Map<string, string>()
    for (let round = 0; round < ROUNDS; round++) {
      const server = await installation.start()
      let alive = true
      const work = async (worker: number) => {
        const slug = `r${round}w${worker}`
        const key = installation.keys[worker] as string
        const [gone, back] = [new Set<string>(), new Set<string>()]
        keyOf.set(slug, key)
        sent.set(slug, gone)
        answered.set(slug, back)
        await createLinkOverHttp(slug, key, server)
        while (alive && gone.size < 900) {
          const marker = `${slug}-${gone.size}`
          gone.add(marker)
          const answer = await server.click(`${slug}?utm_term=${marker}`).catch(() => {
            alive = false
          })
          if (answer?.status === 302) back.add(marker)
          else if (answer) throw new Error(`a click was answered with ${answer.status}`)
        }
      }
      const workers = Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)))
      await until(
        'each worker’s first clicks',
        () =>
          Array.from({ length: WORKERS }, (_, worker) => answered.get(`r${round}w${worker}`)).every(
            (back) => back && back.size > CLICKS_EACH,
          ),
        WITHIN_MS,
      )
      await Bun.sleep(randomMs(0, 400))
      await server.kill()
      await workers
    }

    const server = await installation.start()
    let clicks = 0
    for (const [slug, back] of answered) {
      const counted = await readCountedClicks(server, keyOf.get(slug) as string, slug)
      expect([...back].filter((marker) => !counted.has(marker))).toEqual([])
      expect([...counted].filter(([marker, count]) => count !== 1 || !sent.get(slug)?.has(marker))).toEqual(
        [],
      )
      clicks += back.size
    }
    expect(clicks).toBeGreaterThan(ROUNDS * WORKERS * CLICKS_EACH)
    await waitUntilCountersAgree(server, installation.keys)
    expect(await server.stop()).toBe(0)
  }, 300_000)
})
