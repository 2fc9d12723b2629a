// Ids of the inbox's elements that shortcuts and links move the focus to.

export const toRowId = (id: number) => `submission-${id}`
export const SEARCH_ID = 'inbox-search'
export const READER_ID = 'inbox-reader'
export const NOTES_ID = 'inbox-notes'
