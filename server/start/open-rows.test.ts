// A data directory of a newer release is refused before anything in it changes.

import { describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { readConfig } from '../config/config.ts'
import { openRows, requireOwnFormats } from './open-rows.ts'

async function withDirectory(use: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-formats-'))
  try {
    await use(dataDir)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const open = async (dataDir: string) => (await openRows(readConfig({ DATA_DIR: dataDir }))).close()
const readFormats = (dataDir: string) => JSON.parse(readFileSync(join(dataDir, 'formats.json'), 'utf8'))
const writeFormats = (dataDir: string, content: unknown) =>
  writeFileSync(
    join(dataDir, 'formats.json'),
    typeof content === 'string' ? content : JSON.stringify(content),
  )

describe('a data directory', () => {
  test('says which release and formats it has, and opens again', () =>
    withDirectory(async (dataDir) => {
      await open(dataDir)
      const first = readFormats(dataDir)
      expect(first).toEqual({
        release: manifest.version,
        formats: { spool: expect.any(Number), batches: expect.any(Number), hits: expect.any(Number) },
      })
      await open(dataDir)
      expect(readFormats(dataDir)).toEqual(first)
    }))

  for (const name of ['spool', 'batches', 'hits', 'files of the future'])
    test(`with a newer format of ${name} is refused, and nothing is written`, () =>
      withDirectory(async (dataDir) => {
        writeFormats(dataDir, { release: '9.1.0', formats: { [name]: 99 } })
        const refusal = `made by Towpath 9.1.0 (formats: ${name} 99), and this version is older`
        await expect(open(dataDir)).rejects.toThrow(refusal)
        await expect(requireOwnFormats(dataDir)).rejects.toThrow(refusal)
        expect(existsSync(join(dataDir, 'towpath.db'))).toBe(false)
      }))

  for (const content of ['', '{"release": 7}', 'formats 2'])
    test(`whose formats.json is ${JSON.stringify(content)} is refused, and the sentence says what to do`, () =>
      withDirectory(async (dataDir) => {
        writeFormats(dataDir, content)
        await expect(open(dataDir)).rejects.toThrow('or delete the file if no newer version has run here')
        expect(existsSync(join(dataDir, 'towpath.db'))).toBe(false)
      }))

  test('of an older release gets the numbers of this one, and keeps those that only the other has', () =>
    withDirectory(async (dataDir) => {
      writeFormats(dataDir, { release: '0.0.1', formats: { spool: 0, hits: 1, gone: 0 } })
      await open(dataDir)
      const { release, formats } = readFormats(dataDir)
      expect([release, formats.gone, formats.hits > 1]).toEqual([manifest.version, 0, true])
    }))

  test('keeps the formats that it has when the rows cannot be migrated', () =>
    withDirectory(async (dataDir) => {
      const before = { release: '0.0.1', formats: { hits: 1 } }
      writeFormats(dataDir, before)
      writeFileSync(join(dataDir, 'towpath.db'), 'no database'.repeat(1_000))
      await expect(open(dataDir)).rejects.toThrow()
      expect(readFormats(dataDir)).toEqual(before)
      expect(readdirSync(dataDir)).not.toContain('spool')
    }))
})
