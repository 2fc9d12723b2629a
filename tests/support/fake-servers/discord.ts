// A stand-in for Discord's webhooks, with Discord's limits and error codes
// (https://discord.com/developers/docs/resources/webhook).

import { type ChatMessage, startChatServer } from './chat-server.ts'

export const DISCORD_PATH = `/api/webhooks/1234567890123456789/${'cAnArYdIsCoRd_-'.repeat(4)}12345678`

/** @returns the error that Discord would answer, or undefined for a valid message */
export function validateDiscordMessage(message: ChatMessage): string | undefined {
  const { content = '', embeds = [] } = message
  const isTooLong = (text: unknown, max: number) => typeof text === 'string' && text.length > max
  const isEmpty = (text: unknown) => typeof text !== 'string' || text.trim() === ''
  if (content === '' && embeds.length === 0) return 'Cannot send an empty message'
  if (isTooLong(content, 2000) || embeds.length > 10) return 'Invalid Form Body'
  let characters = 0
  for (const { title = '', description = '', fields = [], footer } of embeds) {
    if (isTooLong(title, 256) || isTooLong(description, 4096) || fields.length > 25)
      return 'Invalid Form Body'
    if (footer && (isEmpty(footer.text) || isTooLong(footer.text, 2048))) return 'Invalid Form Body'
    characters += title.length + description.length + (footer?.text.length ?? 0)
    for (const { name, value } of fields) {
      if (isEmpty(name) || isEmpty(value) || isTooLong(name, 256) || isTooLong(value, 1024))
        return 'Invalid Form Body'
      characters += name.length + value.length
    }
  }
  return characters > 6000 ? 'Invalid Form Body' : undefined
}

export const startFakeDiscord = () =>
  startChatServer(({ path }, message, accept) => {
    const url = new URL(path, 'http://discord')
    const refuse = (status: number, code: number, text: string) =>
      Response.json({ message: text, code }, { status })
    if (!url.pathname.startsWith(DISCORD_PATH.slice(0, 33))) return refuse(404, 10_015, 'Unknown Webhook')
    if (url.pathname !== DISCORD_PATH) return refuse(401, 50_027, 'Invalid Webhook Token')
    const error = validateDiscordMessage(message)
    if (error) return refuse(400, 50_035, error)
    accept()
    if (url.searchParams.get('wait') !== 'true') return new Response(null, { status: 204 })
    return Response.json({ id: '987654321', channel_id: '1', content: '', embeds: message.embeds })
  })
