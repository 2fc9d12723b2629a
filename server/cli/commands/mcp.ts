// The command `mcp` serves tools for an AI assistant on standard input and output. It calls the API of a server anywhere.

import { readApiAccess } from '../../config/config.ts'
import { parseUrl } from '../../lib/web-url.ts'
import { CommandError, type StandaloneCommand } from '../command.ts'

export const mcpCommand: StandaloneCommand = {
  name: 'mcp',
  form: '[--url u] [--key k] [--write]',
  help: 'tools for an AI assistant (MCP); see docs/mcp.md',
  words: 0,
  options: ['url', 'key', 'write'],
  async runStandalone({ options }) {
    // Other users of a machine can see the options of a command, but not its environment.
    const access = readApiAccess()
    const origin = parseServerUrl(options.url ?? access.url)
    const key = options.key ?? access.key ?? ''
    if (!/^[!-~]+$/.test(key)) throw new CommandError('Set TOWPATH_API_KEY to an API key of your workspace.')
    // Imported here, so that the other commands start faster.
    const { serveMcp } = await import('../mcp/serve-mcp.ts')
    await serveMcp({ origin, key, mayWrite: options.write === true })
    return { output: '', exitCode: 0 }
  },
}

function parseServerUrl(text: string | undefined): string {
  if (text === undefined)
    throw new CommandError('Set TOWPATH_URL to the address of your server, or use --url.')
  const url = parseUrl(text)
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.pathname === '/') return url.origin
  throw new CommandError('The address of the server is an origin, such as https://go.example.')
}
