// Loaded before the first test file: fetches what all of them stand on. After each file it clears up.

import { afterAll } from 'bun:test'
import { LOG_LEVELS, setLogLevel } from '../../server/lib/log.ts'
import { installPostgresIfMissing } from './postgres/postgres-programs.ts'
import { dropDatabases } from './postgres/postgres-server.ts'

// What fails on purpose would fill the screen. LOG_LEVEL=info shows it.
setLogLevel(LOG_LEVELS.find((level) => level === process.env.LOG_LEVEL) ?? 'silent')
installPostgresIfMissing()
afterAll(dropDatabases)
