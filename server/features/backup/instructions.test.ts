import { expect, test } from 'bun:test'
import { writeInstructions } from './instructions.ts'
import type { Manifest } from './manifest.ts'

test('docs/backup.md has the commands for ClickHouse that the backup has', async () => {
  const manifest = { rows: { engine: 'sqlite' }, hits: { engine: 'clickhouse' }, besides: [] as string[] }
  const stores = { clickHouseUrls: ['http://towpath:secret@clickhouse:8123/towpath'] }
  const text = writeInstructions(manifest as unknown as Manifest, stores, '/backups/today')
  const commands = text.match(/(?<= {2})clickhouse-client .+/g) ?? []
  expect(commands.map((command) => /"(\w+ \w+)/.exec(command)?.[1])).toEqual(['RESTORE DATABASE'])
  const page = await Bun.file(`${import.meta.dir}/../../../docs/backup.md`).text()
  for (const command of commands) expect(page).toContain(command.replace('today.zip', '$(basename $B).zip'))
})
