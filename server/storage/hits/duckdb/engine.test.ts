import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHit, createHitQuery, testHitEngine } from '../../../../tests/contracts/hit-engine.ts'
import { full, quick } from '../../../../tests/support/suite.ts'
import type { HitEngine } from '../hit-engine.ts'
import { isEngineDead } from './damage-watch.ts'
import { type DuckDbOptions, openDuckDb } from './engine.ts'

// An empty file, created once and copied: creating one takes as long as most tests here.
const template = mkdtempSync(join(tmpdir(), 'hits-'))
const empty = join(template, 'empty')
beforeAll(async () => (await openDuckDb({ path: empty })).close())
afterAll(() => rmSync(template, { recursive: true, force: true }))

const openCopy = (directory: string, options: Partial<DuckDbOptions> = {}) => {
  const path = join(directory, 'hits.duckdb')
  copyFileSync(empty, path)
  return openDuckDb({ path, ...options })
}

// Every question reads the hits as they arrived and the sorted ones. One thread is enough for so few: a second one would
// only wait, at a cost.
testHitEngine('DuckDB, with every two hits sorted', {
  open: (directory) => openCopy(directory, { runHits: 1, threads: 1 }),
  openBackup: (path) => openDuckDb({ path }),
})

full.describe('as servers open it', () =>
  testHitEngine('DuckDB', {
    open: openCopy,
    openBackup: (path) => openDuckDb({ path }),
  }),
)

describe('DuckDB after an accident', () => {
  let directory: string
  let path: string
  const opened: HitEngine[] = []

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'hits-'))
    path = join(directory, 'hits.duckdb')
  })
  afterEach(async () => {
    for (const engine of opened.splice(0)) await engine.close()
    rmSync(directory, { recursive: true, force: true })
  })

  const open = async (at = path) => {
    const engine = await openDuckDb({ path: at, batchDir: directory })
    opened.push(engine)
    return engine
  }
  const load = (engine: HitEngine, number: number, count = 10) => {
    const batch = join(directory, `batch-${number}`)
    writeFileSync(batch, Array.from({ length: count }, () => `${JSON.stringify(createHit())}\n`).join(''))
    return engine.load({ node: 'a', number, path: batch })
  }
  const clicks = async (engine: HitEngine) => (await engine.ask(createHitQuery()))[0]?.clicks
  /**
   * The files of a process that was killed after five batches: its last checkpoint, and a log of the batches after it.
   */
  const killed = async () => {
    const living = join(template, 'living')
    if (!existsSync(living)) {
      const engine = await open(join(directory, 'living'))
      await load(engine, 1)
      // A backup makes a checkpoint. The batches after it are in the log only.
      await engine.backup(join(template, 'first-batch'))
      for (let number = 2; number <= 5; number++) await load(engine, number)
      copyFileSync(join(directory, 'living.wal'), `${living}.wal`)
      copyFileSync(join(directory, 'living'), living)
    }
    copyFileSync(living, path)
    copyFileSync(`${living}.wal`, `${path}.wal`)
  }
  const setAside = () => readdirSync(directory).filter((name) => name.includes('.corrupt-'))

  test('a killed process loses no batch', async () => {
    await killed()
    const engine = await open()
    expect([await clicks(engine), await engine.mark('a')]).toEqual([50, 5])
    expect(setAside()).toEqual([])
  })

  test('a torn log loses whole batches, and the mark says which to load again', async () => {
    await killed()
    truncateSync(`${path}.wal`, statSync(`${path}.wal`).size - 100)
    const engine = await open()
    expect([await clicks(engine), await engine.mark('a')]).toEqual([40, 4])
    await load(engine, 5)
    expect(await clicks(engine)).toBe(50)
  })

  const wal = () => `${path}.wal`
  const flip = (file: string, from: number, length: number) => {
    const bytes = readFileSync(file)
    for (let at = from; at < from + length; at++) bytes[at] = (bytes[at] as number) ^ 0xff
    writeFileSync(file, bytes)
  }

  test('a log with a flipped byte is quarantined, and the file opens as of its checkpoint', async () => {
    await killed()
    // In a value: DuckDB takes a wrong size of an entry for the torn end of the log.
    flip(wal(), readFileSync(wal()).indexOf('redirect', statSync(wal()).size >> 1), 1)
    const engine = await open()
    expect([await clicks(engine), await engine.mark('a')]).toEqual([10, 1])
    expect(setAside()).toEqual([expect.stringMatching(/^hits\.duckdb\.wal\.corrupt-\d+$/)])
    await load(engine, 2)
    expect(await clicks(engine)).toBe(20)
  })

  // After a normal end everything is in the file. After a kill most of it is in the log.
  test.each([
    ['flipped bytes in its header', 'closed', 1, () => flip(path, 0, 64)],
    ['a wrong size in its log', 'killed', 1, () => flip(wal(), 8, 16)],
    ['a log of garbage', 'killed', 0, () => writeFileSync(wal(), 'garbage'.repeat(1000))],
    ['garbage in place of it', 'killed', 2, () => writeFileSync(path, 'garbage'.repeat(10_000))],
    ['no bytes in it', 'closed', 1, () => writeFileSync(path, '')],
    ['no bytes in it but a log', 'killed', 2, () => writeFileSync(path, '')],
    ['a log but no file', 'killed', 0, () => rmSync(path)],
  ] as const)('a file with %s is exact again after the batches above its mark are loaded', async (...row) => {
    const [, end, aside, damage] = row
    await killed()
    if (end === 'closed') await (await openDuckDb({ path, batchDir: directory })).close()
    damage()
    const engine = await open()
    expect(setAside()).toHaveLength(aside)
    for (let number = (await engine.mark('a')) + 1; number <= 5; number++) await load(engine, number)
    expect([await clicks(engine), await engine.mark('a')]).toEqual([50, 5])
  })

  test('a file of garbage is quarantined and replaced by the last backup', async () => {
    await killed()
    copyFileSync(join(template, 'first-batch'), `${path}.backup`)
    rmSync(`${path}.wal`)
    writeFileSync(path, Buffer.alloc(300_000, 'garbage'))
    const engine = await open()
    expect([await clicks(engine), await engine.mark('a')]).toEqual([10, 1])
    expect(setAside()).toHaveLength(1)
    expect(existsSync(`${path}.backup`)).toBe(true)
  })

  test('starts empty when neither the file nor the backup is readable', async () => {
    writeFileSync(path, Buffer.alloc(300_000, 'garbage'))
    writeFileSync(`${path}.wal`, 'garbage')
    writeFileSync(`${path}.backup`, 'garbage')
    const engine = await open()
    expect([await clicks(engine), await engine.mark('a')]).toEqual([0, 0])
    await load(engine, 1)
    expect(await clicks(engine)).toBe(10)
  })

  quick(
    'damage inside the data kills the engine on reading; the next opening uses the backup, or starts empty',
    async () => {
      const first = await openDuckDb({ path })
      const marker = crypto.randomUUID()
      const batch = (number: number) => {
        const file = join(directory, `batch-${number}`)
        // Few different texts: the engine stores them uncompressed, so they show where in the file the data is.
        const texts = Array.from({ length: 3000 }, (_, n) => `${marker}-${n % 50}`)
        writeFileSync(
          file,
          texts.map((utmContent) => `${JSON.stringify(createHit({ utmContent }))}\n`).join(''),
        )
        return { node: 'a', number, path: file }
      }
      await first.load(batch(1))
      await first.backup(`${path}.backup`)
      await first.load(batch(2))
      await first.close()
      const flip = (file: string) => {
        const bytes = readFileSync(file)
        for (let at = bytes.indexOf(marker); at >= 0; at = bytes.indexOf(marker, at + 1)) bytes[at] = 0
        writeFileSync(file, bytes)
      }
      const readAll = (engine: HitEngine) =>
        engine
          .ask(createHitQuery({ groupBy: { by: 'utmContent', limit: 10, nullAs: '' } }))
          .catch((error) => error)
      flip(path)
      const damaged = await openDuckDb({ path })
      expect(isEngineDead(await readAll(damaged))).toBe(true)
      await expect(damaged.mark('a')).rejects.toThrow('Corrupt')
      await damaged.close()
      const restored = await openDuckDb({ path })
      expect([await clicks(restored), await restored.mark('a')]).toEqual([3000, 1])
      await restored.close()
      flip(path)
      flip(`${path}.backup`)
      const again = await openDuckDb({ path })
      expect(isEngineDead(await readAll(again))).toBe(true)
      await again.close()
      const empty = await open()
      expect([await clicks(empty), await empty.mark('a')]).toEqual([0, 0])
      expect(setAside().length).toBe(3)
    },
  )

  test.each(['', 'short'])('a file that holds only %p opens', async (content) => {
    writeFileSync(path, content)
    expect(await clicks(await open())).toBe(0)
  })

  test('a file in use is an error and stays where it is', async () => {
    const engine = await open()
    await load(engine, 1)
    await engine.backup(join(directory, 'copy'))
    const script = `
      import { openDuckDb } from ${JSON.stringify(join(import.meta.dir, 'engine.ts'))}
      await openDuckDb({ path: ${JSON.stringify(path)} }).then(() => process.exit(0), () => process.exit(3))`
    expect(await Bun.spawn([process.execPath, '-e', script], { stderr: 'ignore' }).exited).toBe(3)
    expect(setAside()).toEqual([])
  })

  full('a full disk kills the engine, and opening it again finds every batch that it confirmed', async () => {
    const noise = () => Buffer.from(crypto.getRandomValues(new Uint8Array(450))).toString('base64')
    const lines = Array.from(
      { length: 5000 },
      () => `${JSON.stringify(createHit({ utmContent: noise() }))}\n`,
    )
    writeFileSync(join(directory, 'batch'), lines.join(''))
    const script = `
      import { isEngineDead } from ${JSON.stringify(join(import.meta.dir, 'damage-watch.ts'))}
      import { openDuckDb } from ${JSON.stringify(join(import.meta.dir, 'engine.ts'))}
      const engine = await openDuckDb({ path: ${JSON.stringify(path)} })
      let dead = false
      for (let number = 1; !dead && number < 50; number++) {
        try {
          await engine.load({ node: 'a', number, path: ${JSON.stringify(join(directory, 'batch'))} })
          console.log(number)
        } catch (error) {
          dead = isEngineDead(error)
          console.log(dead ? 'dead' : error.message)
        }
      }
      await engine.ask(${JSON.stringify(createHitQuery())}).catch((error) => isEngineDead(error) && console.log('still dead'))
      await engine.close()
      console.log('closed')`
    // The kernel refuses to let a file grow past the limit (blocks of 1 KiB), as a full disk would.
    const child = Bun.spawn(
      ['bash', '-c', `trap '' XFSZ; ulimit -f 20000; exec "$0" -e "$1"`, process.execPath, script],
      { stdout: 'pipe', stderr: 'ignore' },
    )
    const said = (await new Response(child.stdout).text()).trim().split('\n')
    expect(said.slice(-3)).toEqual(['dead', 'still dead', 'closed'])
    const acknowledged = Math.max(...said.map(Number).filter(Number.isFinite))
    const engine = await open()
    const mark = await engine.mark('a')
    expect(mark).toBeGreaterThanOrEqual(acknowledged)
    expect(await clicks(engine)).toBe(mark * 5000)
  })

  test('an error of one statement does not kill the engine', async () => {
    const engine = await open()
    const failure = await engine
      .load({ node: 'a', number: 1, path: join(directory, 'none') })
      .catch((error) => error)
    expect([failure instanceof Error, isEngineDead(failure)]).toEqual([true, false])
  })

  test('questions after close are rejected', async () => {
    const engine = await openDuckDb({ path })
    await engine.close()
    await expect(engine.ask(createHitQuery())).rejects.toThrow('closed')
  })

  test('only the batch directory is readable, whatever its name is', async () => {
    const odd = join(directory, `batches [1]* 'quoted'`)
    mkdirSync(odd)
    const engine = await openDuckDb({ path, batchDir: odd })
    opened.push(engine)
    const line = `${JSON.stringify(createHit())}\n`
    writeFileSync(join(odd, '1'), line)
    writeFileSync(join(directory, 'outside'), line)
    await engine.load({ node: 'a', number: 1, path: join(odd, '1') })
    const outside = engine.load({ node: 'a', number: 2, path: join(directory, 'outside') })
    await expect(outside).rejects.toThrow('Permission')
    expect(await clicks(engine)).toBe(1)
  })

  full('works inside a worker thread', async () => {
    writeFileSync(join(directory, 'batch-1'), `${JSON.stringify(createHit())}\n`)
    writeFileSync(
      join(directory, 'worker.ts'),
      `import { openDuckDb } from ${JSON.stringify(join(import.meta.dir, 'engine.ts'))}
       const engine = await openDuckDb({ path: ${JSON.stringify(path)} })
       await engine.load({ node: 'a', number: 1, path: ${JSON.stringify(join(directory, 'batch-1'))} })
       const answer = await engine.ask(${JSON.stringify(createHitQuery())})
       await engine.close()
       postMessage(answer)`,
    )
    const worker = new Worker(join(directory, 'worker.ts'))
    const answer = await new Promise((resolve, reject) => {
      worker.onmessage = (event) => resolve(event.data)
      worker.onerror = (event) => reject(new Error(event.message))
    })
    worker.terminate()
    expect(answer).toEqual([{ key: null, clicks: 1, visitors: 1 }])
    expect(await clicks(await open())).toBe(1)
  })
})
