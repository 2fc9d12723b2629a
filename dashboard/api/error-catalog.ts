// The API's messages with their translations. It is empty in English; bundle-texts.ts fills it for another language.

export const ERROR_TEXTS: Record<string, string> = {}
