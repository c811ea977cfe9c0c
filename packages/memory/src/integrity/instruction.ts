// Instruction: whether a text poses as an instruction to the model that will read it.
// Owns the answer. Leaves the wordings to the lists of rules, disguises to instruction.ts, and what becomes of such a text to
// admit.ts and as-data.ts. That people tell each other what to do is no instruction to a model, and most of what anybody
// remembers.
// R1  Deterministic: the first rule in the order of the lists is the answer.
// R2  A gap between two words of a rule is bounded and ends with the sentence: a long text costs little more than reading.
// R3  A wording that no rule knows passes: this is one wall of several. The others are the trust of an origin, and that
//     whatever is recalled is shown as data.

import { longWork } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { instructionRules } from "./instruction-rules.ts"
import { GAP, r, type Rule, rule } from "./rule.ts"
import { cleanText } from "./clean-text.ts"

// Disguise: the plain readings of a text that was written so as not to be recognised.
// D1  The first reading is the text itself, folded: lower case, no accents, one kind of quotation mark,
//     no blank lines.
// D2  Further readings are made only of what looks disguised, so that plain text costs one.

/** Cyrillic and Greek letters that look like Latin ones, lower case. */
const lookAlikes: Readonly<Record<string, string>> = {
  а: "a",
  в: "b",
  е: "e",
  к: "k",
  м: "m",
  н: "h",
  о: "o",
  р: "p",
  с: "c",
  т: "t",
  у: "y",
  х: "x",
  ѕ: "s",
  і: "i",
  ј: "j",
  ԁ: "d",
  ո: "n",
  α: "a",
  ε: "e",
  ι: "i",
  κ: "k",
  ν: "v",
  ο: "o",
  ρ: "p",
  τ: "t",
  υ: "u",
  ɡ: "g",
  ɩ: "i",
  ı: "i"
}
const lookAlike = new RegExp(`[${Object.keys(lookAlikes).join("")}]`, "gu")

const lettersOf = (text: string): string =>
  cleanText(text)
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/ß/g, "ss")
    .replace(lookAlike, (letter) => lookAlikes[letter] ?? letter)
    .replace(/[\u2018\u2019\u02bc`´]/g, "'")
    .replace(/[\u201c\u201d\u201e«»]/g, '"')
    .replace(/[\u2010-\u2015]/g, "-")

const spaced = (text: string): string => text.replace(/[^\S\n]+/g, " ").replace(/ ?\n[ \n]*/g, "\n")

const lettersOfDigits: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s"
}
/** A word with letters and, between or before them, what stands for one. It is looked for where a word begins, and only there. */
const digitWord = /(?<![a-z013457@$])(?=[a-z013457@$]*[a-z])(?=[a-z]*[013457@$])[a-z013457@$]{4,}/g

const withoutDigits = (text: string): string =>
  text.replace(digitWord, (word) => word.replace(/[013457@$]/g, (digit) => lettersOfDigits[digit] ?? digit))

/** Single letters, set apart by one sign each: `i g n o r e`, `i.g.n.o.r.e`. A wider gap ends the word. */
const apart = /(?<![a-z])[a-z](?:[ .\-_*|][a-z](?![a-z])){3,}/g
const letterGap = /[ .\-_*|]/g

const drawnTogether = (text: string): string => text.replace(apart, (letters) => letters.replace(letterGap, ""))

/** From 24 characters on, which are 18 bytes: no shorter instruction is worth the trouble. */
const base64 = /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{24,4000}={0,2}/g
const printable = /^[\t\n\r -~]+$/

const decoded = (text: string): ReadonlyArray<string> =>
  (text.match(base64) ?? []).slice(0, 16).flatMap((run) => {
    const bytes = atob(run.replace(/=+$/, "").slice(0, run.replace(/=+$/, "").length & ~3))
    return printable.test(bytes) && bytes.includes(" ") ? [spaced(lettersOf(bytes))] : []
  })

/** What is looked for in any text: each takes time in proportion to its length. */
export const readingPatterns: ReadonlyArray<RegExp> = [digitWord, apart, base64]

/** The readings of a text, folded, the plain one first. */
export const readingsOf = (text: string): ReadonlyArray<string> => {
  const letters = lettersOf(text)
  const undigited = withoutDigits(letters)
  return [...new Set([letters, undigited, drawnTogether(undigited)].map(spaced)), ...decoded(text)]
}

// ForeignRules: how an instruction to a model is worded in German, French and Spanish.

const GERMAN_RULES = r`(?:anweisung|instruktion|regel|vorgabe|befehl|richtlinie|prompt|anordnung|einschrankung)\w*`
const FRENCH_RULES = r`(?:instructions?|consignes?|regles?|directives?|ordres?|restrictions?|invites?|prompts?)`
const SPANISH_RULES = r`(?:instruccion(?:es)?|reglas?|ordenes|directrices|directivas?|indicaciones|restricciones|prompts?)`

const german: ReadonlyArray<Rule> = [
  rule("german-override", [
    r`\b(?:ignorier(?:e|en sie|t)?|vergiss|vergesst|vergessen sie|missachte(?:n sie)?|uberschreibe|verwirf|umgehe?)\b${GAP}\b(?:vorherig|bisherig|fruher|obig|vorangegangen|vorig|ursprunglich|alle|deine|samtlich|jegliche)\w*${GAP}\b${GERMAN_RULES}`,
    r`\b(?:befolge|beachte)\b${GAP}\b${GERMAN_RULES}${GAP}\bnicht\b`,
    r`\b(?:neue|geheime|aktualisierte) (?:system)?(?:anweisung|instruktion|befehl)(?:en|e)? ?(?::|lauten|fur (?:dich|die ki))`
  ]),
  rule("german-new-role", [
    r`\bantworte(?:n sie|t)? (?:nur|ausschliesslich) (?:noch )?(?:mit|in|auf)\b`,
    r`\bdu bist (?:jetzt|nun|ab sofort|ab jetzt|kein|nicht mehr|fortan)\b[^.!?]{0,40}\b(?:ki|assistent|modell|sprachmodell|bot|chatbot|hacker|einschrankung\w*|regeln)\b`,
    r`\b(?:ab (?:jetzt|sofort)|von (?:nun|jetzt) an) (?:antworte|antwortest|bist du|musst du|gehorch|befolg|ignorier|sollst du|wirst du|darfst du)`,
    r`\b(?:verhalte dich|handle|antworte|tu so)\b[^.!?]{0,20}\b(?:wie|als)\b[^.!?]{0,30}\b(?:ki|modell|bot|system|hacker)\b`,
    r`\bdeine (?:neue|wahre|eigentliche) (?:aufgabe|anweisung|rolle|identitat|mission)\b`
  ]),
  rule("german-conceal", [
    r`\b(?:sag|sage|erzahl|erzahle|verrate|verrat|teile|teil|zeige|melde|sagen sie|informiere)\b[^.!?]{0,30}\b(?:dem|den|der) (?:nutzer|benutzer|anwender|user|mensch)\w*\b[^.!?]{0,30}\b(?:nicht|nichts|niemals|nie|kein\w*)\b`,
    r`\b(?:nutzer|benutzer|anwender|user)\w* (?:darf|soll|muss|sollte) (?:davon |es |das )?(?:nicht|nichts|nie)`
  ]),
  rule("german-reveal", [
    r`\b(?:zeig|zeige|gib|verrate|nenne|wiederhole|drucke|schreibe?|offenbare|geben sie|zeigen sie)\b[^.!?]{0,40}\b(?:system-?prompt|systemanweisung\w*|system-?nachricht|deine (?:\w+ )?(?:anweisungen|instruktionen|vorgaben|regeln))`,
    r`\b(?:sende|schicke?|leite|ubermittle|maile|lade|poste|senden sie|schicken sie)\b[^.!?]{0,60}(?:passw|zugangsdaten|api-?schlussel|kreditkart|geheim|gesprachsverlauf|erinnerungen|kontodaten|schlussel|chatverlauf|nachrichten|mails|adressbuch|telefonnummern)[^!?\n]{0,60}\b(?:an|nach|zu|auf|hoch)\b[^!?\n]{0,40}(?:https?:|@|\.(?:com|net|de|org|example)\b|link|url|adresse|server)`
  ])
]

const french: ReadonlyArray<Rule> = [
  rule("french-override", [
    r`(?<!\b(?:ai|as|a|avons|avez|ont|avais|avait) )\b(?:ignore[zr]?|oublie[zr]?|neglige[zr]?|contourne[zr]?|ne (?:tiens|tenez|suis|suivez|respecte[zr]?) (?:pas|plus)|fai(?:s|tes) abstraction)\b${GAP}\b(?:precedent\w*|anterieur\w*|ci-dessus|toutes?|tous|tes|vos|initial\w*)\b${GAP}\b${FRENCH_RULES}`,
    r`(?<!\b(?:ai|as|a|avons|avez|ont|avais|avait) )\b(?:ignore[zr]?|oublie[zr]?)\b${GAP}\b${FRENCH_RULES} (?:precedent|anterieur|ci-dessus|initial)`,
    r`\b(?:nouvelles?|voici (?:tes|vos) nouvelles) (?:instructions?|consignes?|directives?)(?: systeme)? ?:`
  ]),
  rule("french-new-role", [
    r`\b(?:reponds|repondez) (?:uniquement|seulement|exclusivement) (?:par|avec|en)\b`,
    r`\b(?:tu es|vous etes) (?:maintenant|desormais|dorenavant|a present)\b[^.!?]{0,40}\b(?:ia|assistante?|modele|bot|robot|pirate|sans (?:aucune )?(?:restriction|limite|filtre|regle)s?)\b`,
    r`\b(?:a partir de maintenant|desormais|dorenavant),? (?:tu (?:dois|vas|reponds|obeis|es)|vous (?:devez|allez|repondez|etes)|reponds|repondez|obei)`,
    r`\b(?:agis|agissez|comporte-toi|reponds) comme (?:si|une?)\b[^.!?]{0,40}\b(?:ia|modele|bot|regle|restriction|limite|pirate)s?\b`
  ]),
  rule("french-conceal", [
    r`\bne (?:le |lui |jamais )?(?:dis|dites|dire|mentionne[zrs]?|revele[zrs]?|montre[zrs]?|informe[zrs]?|previen[st]?|prevenez|parle[zrs]?)\b[^.!?]{0,40}\b(?:utilisateur|utilisatrice|usager)s?\b`,
    r`\b(?:sans|cache[zr]?)\b[^.!?]{0,40}\b(?:l'utilisateur|aux? utilisateurs?)\b`
  ]),
  rule("french-reveal", [
    r`\b(?:affiche|montre|revele|donne|repete|ecri[st]|imprime|recite)[zr]?\b[^.!?]{0,40}\b(?:(?:prompt|invite|message) (?:de )?systeme|prompt|(?:tes|vos) (?:instructions|consignes|directives|regles))`,
    r`\b(?:envoie|envoyez|envoyer|transfere[zr]?|transmets|transmettez|publie[zr]?|poste[zr]?|copie[zr]?)\b[^.!?]{0,60}\b(?:mots? de passe|identifiants|cles? (?:api|secrete)s?|cle d'api|cartes? (?:bancaire|de credit)|historique|souvenirs|memoire|conversation|secrets?)\b[^!?\n]{0,60}(?:\ba\b|\bvers\b|\bsur\b)`
  ])
]

const spanish: ReadonlyArray<Rule> = [
  rule("spanish-override", [
    r`\b(?:ignora|ignore[ns]?|ignorar|olvida|olvide[ns]?|olvidar|omite|descarta|desobedece|no sigas|no siga|no obedezcas|haz caso omiso)\b${GAP}\b(?:anterior\w*|previ[ao]s?|todas?|todos|tus|sus|las|precedentes?|iniciales)\b${GAP}\b${SPANISH_RULES}`,
    r`\b(?:ignora|ignore|olvida|olvide|descarta)\b${GAP}\b${SPANISH_RULES} (?:anterior|previ|de arriba|inicial)`,
    r`\b(?:nuevas?|estas son tus nuevas) (?:instruccion(?:es)?|ordenes|directrices)(?: del sistema)? ?:`
  ]),
  rule("spanish-new-role", [
    r`\b(?:responde|responda|contesta) (?:solo|solamente|unicamente|exclusivamente) (?:con|en)\b`,
    r`\b(?:ahora eres|eres ahora|ya no eres|a partir de ahora eres|ahora actuas como|actua como)\b[^.!?]{0,40}\b(?:ia|asistente|modelo|bot|robot|hacker|sin (?:ningun[ao]? )?(?:restriccion|limite|filtro|regla)(?:es|s)?)\b`,
    r`\b(?:a partir de ahora|de ahora en adelante|desde ahora),? (?:debes|deberas|tienes que|responde|responderas|obedece|obedeceras|vas a|solo)\b`
  ]),
  rule("spanish-conceal", [
    r`\b(?:no|nunca|jamas) (?:se )?(?:le |les |lo )?(?:digas|diga|menciones|mencione|reveles|revele|muestres|informes|informe|avises|cuentes|cuente)\b[^.!?]{0,40}\b(?:al?|a los|a la) (?:usuari[oa]s?|humanos?)\b`,
    r`\b(?:sin que (?:el|la|los) usuari[oa]s? (?:lo )?(?:sepa|note|vea)|oculta\w*\b[^.!?]{0,40}\bal usuario)`
  ]),
  rule("spanish-reveal", [
    r`\b(?:muestra|muestrame|revela|dime|dame|repite|imprime|escribe|ensename)\b[^.!?]{0,40}\b(?:(?:prompt|mensaje|indicaciones|instrucciones) (?:del? )?(?:sistema|iniciales)|prompt|tus (?:instrucciones|reglas|directrices))`,
    r`\b(?:envia|envie|enviame|manda|mandame|reenvia|transmite|publica|sube|copia)\b[^.!?]{0,60}\b(?:contrasenas?|credenciales|claves?|tarjetas? de credito|historial|recuerdos|memoria|secretos?|conversacion(?:es)?)\b[^!?\n]{0,60}\b(?:a|al|hacia|en)\b`
  ])
]

export const foreignRules: ReadonlyArray<Rule> = [...german, ...french, ...spanish]

const rules = [...instructionRules, ...foreignRules]

/** Short texts in letters of one byte and of two: the engine compiles a pattern for each of them. */
const samples = ["a b", "\u0430 b"]

/** What a rule costs to compile, by what reading a character costs. */
const RULE_WORK = 100_000

/**
 * Has the engine compile the rules, one after the other: together they hold the event loop for a tenth of a second when
 * the first text is judged. Done once; a text is judged the same without it.
 */
export const rulesReady: Effect.Effect<void> = Effect.runSync(
  Effect.cached(
    Effect.gen(function* () {
      for (const { matches } of rules) {
        yield* longWork.roomForSlice
        longWork.note(RULE_WORK)
        for (let times = 0; times < 3; times++) for (const sample of samples) matches(sample)
      }
    })
  )
)

/** The name of the first rule that the text breaks; undefined when it poses as no instruction. */
export const instructionIn = (text: string): string | undefined => {
  const readings = readingsOf(text)
  return rules.find(({ matches }) => readings.some(matches))?.name
}
