/** What made-up answers are made of: harmless words, of which those are used that are one token each. */
export const MADE_UP_WORDS: ReadonlySet<string> = new Set(
  (
    'about above across after again air all almost along also always among and animal answer any apple area around ' +
    'back base because before begin behind below best better between bird blue boat body book both bottom box bread ' +
    'bring build but call came can car care carry cat change children city class clear close cloud cold color come ' +
    'common complete could country course cover cross day deep did different does door down draw dry during each ' +
    'early earth east easy eat end enough even every example eye face fact fall family far farm fast father feel few ' +
    'field figure final find fine fire first fish five fly food foot form found four free friend from front full game ' +
    'gave girl give glass gold good great green ground group grow half hand hard has have head hear heat help her ' +
    'here high hill home horse hot hour house how idea inch island just keep kind king know land language large last ' +
    'late learn leave left less let letter life light like line list listen little live long look love low made make ' +
    'many map mark may mean measure might mile mind minute moment money month moon more morning most mother mountain ' +
    'move much music must name near need never new next night north note notice number ocean off often old once one ' +
    'only open order other our out over own page paper part past path pattern people perhaps person picture piece ' +
    'place plain plan plane plant play point port power press problem product pull put question quick rain ran reach ' +
    'read ready real red rest right river road rock room round rule run safe said same sand saw say school science ' +
    'sea second see seem self sentence set seven several shape she ship short should show side simple since sing six ' +
    'size sleep slow small snow some song soon sound south space special stand star start state stay step still stone ' +
    'stop story street strong study such summer sun sure surface table take talk teach tell ten test than that the ' +
    'their them then there these they thing think this those though thought thousand three through time together told ' +
    'too took top toward town travel tree true try turn two under unit until use usual very voice wait walk warm was ' +
    'watch water way week well went were west what wheel when where which while white who whole why wide will wind ' +
    'winter wish with wonder wood word work world would write year yes yet you young your'
  ).split(' '),
);
