// No work grows faster than the text of a stranger: each function that reads such a text runs on hostile texts of n and 4n
// units, and takes at most 2.6 times the processor time a doubling. Quadratic work takes four times. A new function in these
// rooms without a row fails.

import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { readCheckout } from '../support/architecture/read-checkout.ts'
import { isProduct } from '../support/architecture/rule.ts'
import { parseSource } from '../support/architecture/typescript-source.ts'
import { measureProcessorMs } from '../support/processor-time.ts'
import { atScale, quick } from '../support/suite.ts'
import { NOT_RUN, READERS, type TextReader, UNITS } from './text-readers.ts'

const SERVER = join(import.meta.dir, '../../server')

/** Where the texts of strangers are read. */
const ROOMS =
  /^(?:lib|http|storage\/sources|features\/(?:accounts|analytics|attribution|forms|links|notify\/(?:channels|templates)|redirect|tracking|visitors|transfer\/(?:files|history|sources)))\//

/** An exported function whose first parameter is a text or bytes; not one whose name says that the text is the server's own. */
const DECLARATION =
  /^export (?:function\*? |const )([\w$]+)[^=\n(]*(?:= )?(?:<[^(\n]*>)?\(\s*(?!(?:origin|secret|dataDir|domain|domains|publicId|version|setting|kind|type|what|smtpUrl|servers)\b)\w+: (?:readonly )?(?:string|Uint8Array|Buffer|unknown)\b/gm

/** As `file name`. */
async function listTextReaders(): Promise<string[]> {
  const files = await readCheckout()
  return files
    .filter(({ path }) => path.startsWith('server/') && isProduct(path) && ROOMS.test(path.slice(7)))
    .flatMap(({ path, text }) =>
      [...parseSource(path, text).code.matchAll(DECLARATION)].map(
        ({ 1: name }) => `${path.slice(7)} ${name}`,
      ),
    )
}

/** Units of UTF-16, of the longest text. A form's body may have sixteen times as many. */
const LENGTH = 64 * 1024
/** A function gets one of this many texts, and its neighbors the others. */
const EACH = atScale({ quick: 12, full: 1, soak: 1 })
const GROWTH_MAX = 2.6
const TRIES = 8
/**
 * A function that takes less for LENGTH units takes no quadratic time: no machine makes four billion steps in it. It is no
 * bound of the test: above it, the growth is measured.
 */
const SURELY_LINEAR_MS = 8
/** The clock of a thread's processor time has steps of some milliseconds. */
const MEASURED_MS = 40

const fill = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)

/** Other processes make a run longer, and hardly three of them. */
async function isSurelyLinear(run: TextReader, text: string): Promise<boolean> {
  for (let tries = 0; tries < 3; tries++) {
    const begun = performance.now()
    await run(text)
    if (performance.now() - begun < SURELY_LINEAR_MS) return true
  }
  return false
}

/** @returns the processor time of one run, from as many as take MEASURED_MS */
async function measureRun(run: TextReader, text: string): Promise<number> {
  let [runs, taken] = [0, 0]
  while (taken < MEASURED_MS) {
    const more = Math.max(1, runs)
    taken += await measureProcessorMs(async () => {
      for (let n = 0; n < more; n++) await run(text)
    })
    runs += more
  }
  return taken / runs
}

/** @returns how many times as long the longer text takes, where it is more than `max` at several moments */
async function findExcess(run: TextReader, short: string, long: string, max: number) {
  // Other work on the machine only adds: the least of several moments counts.
  let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let tries = 0; tries < TRIES; tries++) {
    small = Math.min(small, await measureRun(run, short))
    large = Math.min(large, await measureRun(run, long))
    if (large / small <= max) return undefined
  }
  return large / small
}

/** @returns the growth of two doublings where it is too large, and goes on with the next doubling */
async function findGrowth(run: TextReader, toText: (length: number) => string): Promise<number | undefined> {
  // Small texts come first: exponential work would not end for large ones.
  for (let length = LENGTH / 64; length <= LENGTH; length *= 4) {
    if (await isSurelyLinear(run, toText(length))) continue
    const growth = await findExcess(run, toText(length / 4), toText(length), GROWTH_MAX ** 2)
    // A longer text may be the first one whose garbage is collected. Quadratic work goes on growing.
    if (growth && (await findExcess(run, toText(length), toText(length * 2), GROWTH_MAX))) return growth
  }
  return undefined
}

const listed = Object.entries(READERS)

describe('twice the text takes at most 2.6 times the time', () => {
  test.each(listed)('%s', async (key, call) => {
    const [file = '', name = ''] = key.split(' ')
    const read = call ?? ((await import(join(SERVER, file))) as Record<string, TextReader>)[name]
    const run: TextReader = async (text) => {
      try {
        return await read?.(text)
      } catch {
        // A refusal is an answer too.
        return undefined
      }
    }
    const grown: string[] = []
    const turn = listed.findIndex(([each]) => each === key)
    for (const unit of UNITS.filter((_, n) => (n + turn) % EACH === 0)) {
      const growth = await findGrowth(run, (length) => fill(unit, length))
      if (growth) grown.push(`${JSON.stringify(unit)}: ${growth.toFixed(1)}`)
    }
    expect(grown).toEqual([])
  })
})

test('each function that reads a text of a stranger has a row', async () => {
  const rows = new Set([...listed.map(([key]) => key), ...Object.values(NOT_RUN).flat()])
  const found = await listTextReaders()
  expect(found.filter((key) => !rows.has(key))).toEqual([])
  expect(
    Object.values(NOT_RUN)
      .flat()
      .filter((key) => !found.includes(key)),
  ).toEqual([])
})

quick('quadratic work is found', async () => {
  const normalizes: TextReader = (text) => text.normalize('NFC')
  expect(await findGrowth(normalizes, (length) => fill('\u0301\u0316', length))).toBeDefined()
})
