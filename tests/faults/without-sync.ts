// Takes the sync out of a server's commits (`bun --preload`). The power loss test must notice.

import { open } from 'node:fs/promises'

const file = await open(import.meta.path, 'r')
Object.getPrototypeOf(file).datasync = () => Promise.resolve()
await file.close()
