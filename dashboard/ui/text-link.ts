// How a link looks within words.

export const TEXT_LINK = 'font-medium text-accent underline underline-offset-2'
