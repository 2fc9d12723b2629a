// The style of a link inside a sentence.

export const TEXT_LINK = 'font-medium text-accent underline underline-offset-2'
