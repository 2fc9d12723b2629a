// bunfig.toml loads this before the first test file. It sets the seed of random choices, and drops databases after each
// file.

import { afterAll } from 'bun:test'
import fc from 'fast-check'
import { LOG_LEVELS, setLogLevel } from '../../server/lib/log.ts'
import { dropClickHouseDatabases } from './clickhouse/clickhouse-server.ts'
import { dropDatabases } from './postgres/postgres-server.ts'
import { SEED } from './random.ts'
import { noteCosts } from './run/costs.ts'

// Tests cause failures on purpose, and their logs would fill the screen. LOG_LEVEL=info shows the logs.
setLogLevel(LOG_LEVELS.find((level) => level === process.env.LOG_LEVEL) ?? 'silent')
afterAll(dropDatabases)
afterAll(dropClickHouseDatabases)
fc.configureGlobal({ seed: SEED })
if (process.env.TEST_COSTS) noteCosts(process.env.TEST_COSTS)
