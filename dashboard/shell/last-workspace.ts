// Remembers the workspace that was last open in this browser.

const KEY = 'towpath.workspace'

export const readLastWorkspace = () => Number(localStorage.getItem(KEY))
export const saveLastWorkspace = (id: number) => localStorage.setItem(KEY, String(id))
