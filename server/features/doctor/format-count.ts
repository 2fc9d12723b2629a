// Writes a number with its noun for a person.

/** @param noun forms its plural with an s @returns such as `1 click` or `3 clicks` */
export const formatCount = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`
