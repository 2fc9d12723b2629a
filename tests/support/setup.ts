// bunfig.toml loads this before the first test file. It installs PostgreSQL, and drops databases after each file.

import { afterAll } from 'bun:test'
import { LOG_LEVELS, setLogLevel } from '../../server/lib/log.ts'
import { dropClickHouseDatabases } from './clickhouse/clickhouse-server.ts'
import { installPostgresIfMissing } from './postgres/postgres-programs.ts'
import { dropDatabases } from './postgres/postgres-server.ts'

// Tests cause failures on purpose, and their logs would fill the screen. LOG_LEVEL=info shows the logs.
setLogLevel(LOG_LEVELS.find((level) => level === process.env.LOG_LEVEL) ?? 'silent')
installPostgresIfMissing()
afterAll(dropDatabases)
afterAll(dropClickHouseDatabases)
