// The workspace that was open last in this browser.

const KEY = 'towpath.workspace'

export const lastWorkspace = () => Number(localStorage.getItem(KEY))
export const rememberWorkspace = (id: number) => localStorage.setItem(KEY, String(id))
