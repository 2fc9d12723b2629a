// A stand-in for Microsoft Teams' workflow webhooks, with their size limit and the elements of an Adaptive Card
// (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using).

import { type ChatMessage, startChatServer } from './chat-server.ts'

export const TEAMS_PATH =
  '/workflows/0123456789abcdef0123456789abcdef/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=cAnArYtEaMs-0123456789_abcdefghijklmnopqrst'

/** @returns the error code that Teams would answer, or undefined for a valid message */
export function validateTeamsMessage(text: string): string | undefined {
  // The documentation says "28 KB" and not how they are counted: both ways must fit.
  if (Math.max(Buffer.byteLength(text), Buffer.byteLength(text, 'utf16le')) > 28_672)
    return 'RequestEntityTooLarge'
  const message = JSON.parse(text)
  const [attachment, ...more] = message.attachments ?? []
  if (message.type !== 'message' || more.length > 0) return 'InvalidBody'
  if (attachment?.contentType !== 'application/vnd.microsoft.card.adaptive') return 'InvalidBody'
  const card = attachment.content
  if (card?.type !== 'AdaptiveCard' || !/^1\.[0-4]$/.test(card.version) || !Array.isArray(card.body))
    return 'InvalidBody'
  const hasText = (element: ChatMessage) => typeof element?.text === 'string' && element.text !== ''
  const isValidElement: Record<string, (element: ChatMessage) => boolean> = {
    TextBlock: hasText,
    RichTextBlock: ({ inlines }) =>
      inlines?.length > 0 && inlines.every((run: ChatMessage) => run.type === 'TextRun' && hasText(run)),
  }
  if (!card.body.every((element: ChatMessage) => isValidElement[element.type]?.(element)))
    return 'InvalidBody'
  const actions = card.actions ?? []
  return actions.every(
    (action: ChatMessage) => action.type === 'Action.OpenUrl' && /^https:\/\//.test(action.url),
  )
    ? undefined
    : 'InvalidBody'
}

export const startFakeTeams = () =>
  startChatServer(({ path, text }, _, accept) => {
    const refuse = (status: number, code: string) =>
      Response.json({ error: { code, message: 'The request failed.' } }, { status })
    if (!path.startsWith(TEAMS_PATH.slice(0, 40))) return refuse(404, 'WorkflowNotFound')
    if (path !== TEAMS_PATH) return refuse(401, 'DirectApiAuthorizationRequired')
    const error = validateTeamsMessage(text)
    if (error) return refuse(error === 'InvalidBody' ? 400 : 413, error)
    accept()
    return new Response(null, { status: 202 })
  })
