// Answers the links in mails to senders: `/f/confirm/{token}` and `/f/stop/{token}`. A GET changes nothing, because mail
// scanners follow links. No cookie is read or set: the link is the right.

import { html } from 'hono/html'
import { type Html, renderHtmlPage } from '../../../http/html-page.ts'
import type { PageBrand } from '../../../http/page-brand.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { readPageBrand } from '../../accounts/brand/brand.ts'
import { fillText, getTexts, hasTexts } from '../rules/languages.ts'
import {
  type Confirmation,
  type ConfirmNeeds,
  confirmSubmission,
  describeConfirmation,
} from './confirm-submission.ts'
import type { LinkKind, ReplyLinks } from './reply-links.ts'

export interface LinkRequest {
  kind: LinkKind
  token: string
  method: string
  /** The browser's language, for the page of a sender with an unknown language. */
  language: string
  headers: Record<string, string>
}

export interface AnswerLinkNeeds extends ConfirmNeeds {
  /** The page that thanks for a submission, with the form's own words. */
  renderThanks: (form: Confirmation['form'], language: string) => Response | Promise<Response>
}

interface PageHead extends Pick<LinkRequest, 'language' | 'headers'> {
  brand?: PageBrand
}

const METHODS = 'GET, HEAD, POST'

export async function answerReplyLink(needs: AnswerLinkNeeds, request: LinkRequest): Promise<Response> {
  const { kind, method, headers } = request
  if (!['GET', 'HEAD', 'POST'].includes(method))
    return new Response(null, { status: 405, headers: { ...headers, Allow: METHODS } })
  return kind === 'confirm' ? answerConfirm(needs, request) : answerStop(needs, request)
}

async function answerConfirm(needs: AnswerLinkNeeds, { token, method, headers, ...request }: LinkRequest) {
  const confirmation = await (method === 'POST' ? confirmSubmission : describeConfirmation)(needs, token)
  const sent = confirmation?.language ?? ''
  const language = hasTexts(sent) ? sent : request.language
  const texts = getTexts(language).links
  const page = { language, headers, brand: confirmation?.form.brand }
  if (!confirmation) return renderMessage(404, texts.unknownTitle, texts.unknown, page)
  const { state, waiting, form } = confirmation
  if (state === 'expired') return renderMessage(410, texts.expiredTitle, texts.expired, page)
  if (state === 'confirmed') return needs.renderThanks(form, language)
  const many = waiting > 1 ? html`<p>${fillText(texts.confirmMany, { n: String(waiting) })}</p>\n` : ''
  return renderQuestion(
    texts.confirmTitle,
    html`<p>${texts.confirmLead}</p>
${many}<p class="message"><strong>${form.name}</strong></p>`,
    texts.confirmButton,
    page,
  )
}

async function answerStop(needs: AnswerLinkNeeds, { token, method, ...request }: LinkRequest) {
  const workspaceId = needs.links.readStopToken(token)?.workspaceId
  const page = { ...request, brand: await readPageBrand(needs.db.read, workspaceId) }
  const texts = getTexts(page.language).links
  if (method === 'POST' && (await stopReplies(needs, token)))
    return renderMessage(200, texts.stoppedTitle, texts.stopped, page)
  if (method === 'POST' || !needs.links.readStopToken(token))
    return renderMessage(404, texts.unknownTitle, texts.unknown, page)
  return renderQuestion(texts.stopTitle, html`<p>${texts.stopLead}</p>`, texts.stopButton, page)
}

interface StopNeeds {
  db: Database
  now: () => number
  links: ReplyLinks
}

/**
 * Stops the replies of a workspace to a person's address, for all its forms.
 * @returns false for a token that is not ours, and for one of a deleted workspace
 */
async function stopReplies({ db, now, links }: StopNeeds, token: string): Promise<boolean> {
  const link = links.readStopToken(token)
  if (!link) return false
  const { workspaceId, address } = link
  return db.write(async (connection) => {
    const workspace = await connection
      .selectFrom('workspaces')
      .select('id')
      .where('id', '=', workspaceId)
      .executeTakeFirst()
    if (!workspace) return false
    await connection
      .insertInto('reply_stops')
      .values({ workspace_id: workspaceId, address, stopped_at: now() })
      .onConflict((conflict) => conflict.columns(['workspace_id', 'address']).doNothing())
      .execute()
    return true
  })
}

const renderMessage = (status: number, title: string, text: string, { headers, language, brand }: PageHead) =>
  renderHtmlPage(status, title, html`<h1>${title}</h1>\n<p>${text}</p>`, headers, { language, brand })

/** The form posts to the page's own address. */
const renderQuestion = (title: string, lead: Html, button: string, { headers, language, brand }: PageHead) =>
  renderHtmlPage(
    200,
    title,
    html`<h1>${title}</h1>
${lead}
<form method="post"><button type="submit">${button}</button></form>`,
    headers,
    { language, brand },
  )
