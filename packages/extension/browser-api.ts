// The parts of the WebExtensions API that the extension uses. Chromium and Firefox have them under the same name.

interface BrowserApi {
  storage: {
    local: {
      get(name: string): Promise<Record<string, unknown>>
      set(values: Record<string, unknown>): Promise<void>
    }
  }
  permissions: {
    contains(permissions: { origins: string[] }): Promise<boolean>
    /** Only within a press of the person. Firefox refuses it after an `await`. */
    request(permissions: { origins: string[] }): Promise<boolean>
  }
  tabs: { query(query: { active: true; currentWindow: true }): Promise<{ url?: string; title?: string }[]> }
  runtime: { openOptionsPage(): Promise<void> }
}

export const browserApi = (globalThis as unknown as { chrome: BrowserApi }).chrome
