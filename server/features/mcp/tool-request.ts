// Turns the arguments of a tool into a request of the REST API.

import { BODY_MAX } from '../../http/json-body.ts'
import { type ApiTool, ROWS, ROWS_MAX } from './build-tools.ts'

/** A mistake in the arguments. The model sees the message. */
export class ToolInputError extends Error {}

export interface ToolRequest {
  method: string
  /** With the query. */
  path: string
  body?: string
}

/** @throws ToolInputError */
export function toToolRequest(tool: ApiTool, values: Record<string, unknown>): ToolRequest {
  const body: Record<string, unknown> = {}
  const query = new URLSearchParams()
  let { path } = tool
  for (const [name, value] of Object.entries(values)) {
    const argument = tool.arguments.get(name)
    if (!argument) throw new ToolInputError(`${name}: is not a known argument. ${listArguments(tool)}`)
    if (argument.place === 'body') body[name] = value
    else if (argument.place === 'path')
      path = path.replace(`{${name}}`, toPathText(name, value, argument.isId))
    else for (const each of toQueryTexts(name, value)) query.append(name, each)
  }
  const missing = /\{(\w+)\}/.exec(path)?.[1]
  if (missing !== undefined) throw new ToolInputError(`${missing}: is required`)
  if (tool.position) {
    const rows = Number(query.get('limit') ?? ROWS)
    if (rows < 1 || rows > ROWS_MAX)
      throw new ToolInputError(
        `limit: must be from 1 to ${ROWS_MAX}. The result says how to get the next page.`,
      )
    if (!query.has('limit')) query.set('limit', String(ROWS))
  }
  const hasBody = [...tool.arguments.values()].some(({ place }) => place === 'body')
  const text = hasBody ? JSON.stringify(body) : undefined
  const search = query.size > 0 ? `?${query}` : ''
  if (search.length + (text?.length ?? 0) > BODY_MAX)
    throw new ToolInputError('The arguments are too large: send at most 1 MiB.')
  return { method: tool.method, path: path + search, body: text }
}

const listArguments = ({ name, arguments: known }: ApiTool) =>
  known.size > 0 ? `${name} takes ${[...known.keys()].join(', ')}.` : `${name} takes no arguments.`

/** No text that could be read as another path, such as `..` or the name of another route. */
function toPathText(name: string, value: unknown, isId: boolean): string {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text === 'string' && (isId ? /^[1-9]\d{0,14}$/ : /^[\w-]{1,100}$/).test(text)) return text
  throw new ToolInputError(isId ? `${name}: must be a whole number, such as 17` : `${name}: is not valid`)
}

function toQueryTexts(name: string, value: unknown): string[] {
  // Models name arguments that they do not use.
  if (value === null) return []
  if (Array.isArray(value)) return value.flatMap((each) => toQueryTexts(name, each))
  if (typeof value === 'string') return [value]
  if (typeof value === 'number' || typeof value === 'boolean') return [String(value)]
  throw new ToolInputError(`${name}: must be a text, a number, true or false`)
}
