// The commands `link suspend` and `link restore`: visitors of a suspended link get 451.

import { readHostName } from '../../features/links/names/domain-directory.ts'
import { readRequestedSlug } from '../../features/links/slug.ts'
import { type LinkReference, linkExists, restoreLink, suspendLink } from '../../features/links/suspend.ts'
import { parseUrl } from '../../lib/web-url.ts'
import { parseReason } from '../arguments.ts'
import { type Command, CommandError, type CommandNeeds } from '../command.ts'

export const LINK_COMMANDS: Command[] = [
  {
    name: 'link suspend',
    form: '<id, slug or short URL> [--reason <text>]',
    help: 'answers 451 instead of redirecting; its owner sees the reason',
    words: 1,
    options: ['reason'],
    async run(needs, { words, options }) {
      const reason = parseReason(options.reason)
      return JSON.stringify(await suspendLink(needs, await parseLinkReference(needs, words[0]), reason))
    },
  },
  {
    name: 'link restore',
    form: '<id, slug or short URL>',
    help: 'lets a suspended link redirect again',
    words: 1,
    options: [],
    async run(needs, { words }) {
      return JSON.stringify(await restoreLink(needs, await parseLinkReference(needs, words[0])))
    },
  },
]

/** A number may be an id and a slug. `id:2030` is an id only, and `/2030` is a slug only. */
async function parseLinkReference(needs: CommandNeeds, text = ''): Promise<LinkReference> {
  const id = /^id:([1-9]\d{0,14})$/.exec(text)?.[1]
  if (id !== undefined) return { id: Number(id) }
  const bySlug = parseName(needs.origin, text)
  const { domain, slug } = bySlug
  if (slug === '') throw new CommandError('A link is named by its id, its slug or its short URL.')
  if (domain !== '' && !(await linkExists(needs, bySlug)))
    throw new CommandError(`${text} is not a short URL of this server.`)
  if (text !== slug || !/^[1-9]\d{0,14}$/.test(text)) return bySlug
  const byId = { id: Number(text) }
  if (!(await linkExists(needs, byId))) return bySlug
  if (!(await linkExists(needs, bySlug))) return byId
  throw new CommandError(
    `There is a link with the id ${text} and one with the slug ${text}: write id:${text} or /${text}.`,
  )
}

/** Accepts the text of a report: a short URL, perhaps with a query and the `+` of a preview. */
function parseName(origin: string, text: string): { domain: string; slug: string } {
  const url = /^https?:\/\//i.test(text) ? parseUrl(text) : null
  const domain = !url || url.host === new URL(origin).host ? '' : readHostName(url.host)
  const path = url ? url.pathname : `/${text.replace(/^\//, '')}`
  return { domain, slug: readRequestedSlug(path).replace(/\+$/, '') }
}
