// Damages a table of ClickHouse as a bad disk does.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClickHouseClient } from '../../../server/storage/hits/clickhouse/client.ts'

/** Makes the files of a table unreadable, while ClickHouse does not use them. */
export async function damageTable(
  client: Pick<ClickHouseClient, 'select' | 'execute'>,
  table: string,
): Promise<void> {
  const paths = await client.select(
    `SELECT path FROM system.parts WHERE active AND table = '${table}' AND database = currentDatabase()`,
  )
  await client.execute(`DETACH TABLE ${table} SYNC`)
  for (const [path] of paths) {
    const file = join(String(path), 'data.bin')
    writeFileSync(
      file,
      readFileSync(file).map((byte) => byte ^ 85),
    )
  }
  await client.execute(`ATTACH TABLE ${table}`)
}
