// `towpath doctor` as an operator runs it: beside a server under load, without one, and without a data directory.

import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startLoadGenerator } from '../../../tests/faults/load-generator.ts'
import { createInstallation } from '../../../tests/faults/server-process.ts'
import { towpath } from '../../../tests/support/processes/command-shell.ts'
import { atScale, full } from '../../../tests/support/suite.ts'
import { until } from '../../../tests/support/until.ts'
import type { DoctorReport } from '../../features/doctor/schema.ts'

setDefaultTimeout(120_000)

const doctor = async (env: Record<string, string>) => {
  const { code, out, err } = await towpath({ LOG_LEVEL: 'silent', DISK_RESERVE_MB: '0', ...env }, [
    'doctor',
    '--json',
  ])
  if (err !== '') throw new Error(err)
  const report = JSON.parse(out) as DoctorReport
  const of = (check: string) =>
    report.findings
      .filter((finding) => finding.check === check)
      .map(({ status, summary }) => `${status}: ${summary}`)
  return { code, report, of }
}

describe('npx towpath doctor', () => {
  const directories: string[] = []
  afterAll(() => {
    for (const dir of directories) rmSync(dir, { recursive: true, force: true })
  })

  test('says that there is no data directory, and makes none', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'towpath-doctor-'))
    directories.push(dir)
    const absent = join(dir, 'absent')
    const { code, out, err } = await towpath({ DATA_DIR: absent }, ['doctor'])
    expect([code, err]).toEqual([1, ''])
    expect(out).toContain(`✗ Disk               DATA_DIR: ${absent} does not exist.`)
    expect(out).toContain('→ Start the server once')
    expect(out).toContain('– Receivers          The row store cannot be read.')
    expect(out).toMatch(/\nNot well: 2 problems, \d+ warnings?, \d+ skipped\.\n$/)
    expect(out).not.toContain('\u001b')
    expect(existsSync(absent)).toBe(false)
  })

  test('says what the start would refuse, and looks at nothing that wrong settings lead to', async () => {
    const { code, report, of } = await doctor({
      DATA_DIR: '/nowhere',
      PORT: 'x',
      DATABASE_URL: 'mysql://secret@x',
    })
    expect(code).toBe(1)
    expect(of('settings')).toEqual([
      'problem: The server does not start: PORT: "x" is not a port.',
      'problem: The server does not start: DATABASE_URL: is not a PostgreSQL address.',
    ])
    expect(of('rows')).toEqual([])
    expect(JSON.stringify(report)).not.toContain('secret@x')
  })

  full(
    'finds nothing wrong with a server under load, and finds a lost click with and without the server',
    async () => {
      const installation = await createInstallation(1)
      const { dataDir, keys } = installation
      const server = await installation.start()
      const env = { DATA_DIR: dataDir, PORT: new URL(server.origin).port, HOST: '127.0.0.1' }
      const links = await Promise.all(
        Array.from({ length: 5 }, async () => {
          const { json } = await server.api(keys[0] as string, '/links', {
            destinationUrl: 'https://example.com/',
          })
          return json.data as { id: number; slug: string }
        }),
      )
      const load = startLoadGenerator(4, (n) => server.click(links[n % links.length]?.slug ?? ''))
      await until('some clicks', async () => (load.statuses.get(302) ?? 0) > 200)
      for (let round = 0; round < atScale({ full: 2, soak: 20 }); round++) {
        const { code, of, report } = await doctor(env)
        const problems = report.findings.filter(({ status }) => status === 'problem')
        expect(problems).toEqual([])
        expect(code).toBe(0)
        expect(of('hits')[0]).toMatch(/^ok: DuckDB/)
      }
      await load.stop()
      const settled = async () => (await doctor(env)).of('counters')[0]
      await until(
        'both stores have all clicks',
        async () => {
          const last = await settled()
          return last === `ok: ${load.statuses.get(302)} clicks on 5 links are in both stores.`
        },
        60_000,
      )

      const rows = new Database(join(dataDir, 'towpath.db'))
      rows.run('PRAGMA busy_timeout=5000')
      rows.run('update links set clicks = clicks - 3 where id = ?', [links[0]?.id as number])
      const beside = async () => (await doctor(env)).of('counters')[0] ?? ''
      await until('the doctor to look anew', async () => (await beside()).startsWith('problem'), 60_000)
      expect(await beside()).toContain('Links show fewer clicks than analytics have: 3 clicks')
      expect(await server.stop()).toBe(0)
      const stopped = await doctor(env)
      expect(stopped.code).toBe(1)
      expect(stopped.of('counters')[0]).toContain('Links show fewer clicks than analytics have: 3 clicks')
      rows.run('update links set clicks = clicks + 3 where id = ?', [links[0]?.id as number])
      rows.close()
      expect((await doctor(env)).code).toBe(0)
      await installation.end()
    },
  )

  full('says when the server that runs does not answer where the settings name it', async () => {
    const installation = await createInstallation(1)
    await installation.start()
    const { code, of } = await doctor({ DATA_DIR: installation.dataDir, PORT: '9', HOST: '127.0.0.1' })
    expect(code).toBe(1)
    expect(of('hits')).toEqual([
      'problem: A server runs on DATA_DIR, and does not answer at http://127.0.0.1:9 (ECONNREFUSED).',
    ])
    expect(of('counters')).toEqual(['skipped: The server did not answer.'])
    await installation.end()
  })
})
