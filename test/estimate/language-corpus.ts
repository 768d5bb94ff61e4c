/** Running text in many languages and scripts, by language. */
export const LANGUAGES: Readonly<Record<string, string>> = {
  'English prose': `The committee met on a grey Tuesday morning to decide what should happen to the old observatory. Nobody had
used the telescope for years, yet the building still carried the quiet dignity of a place where people had once stayed
awake all night, waiting for a clear sky. "We could turn it into a library," said the youngest member, "or leave it exactly
as it is." After a long pause the chairwoman shrugged, smiled, and suggested that they climb the stairs and look for
themselves. Up there, under the rusted dome, someone had written three short words on the wall: keep looking up.`,
  'English chat': `hey, can you fix the failing test in CI? it's flaky i think - fails maybe 1 out of 5 runs. don't touch the
public API pls!! also I'd like a short summary of what went wrong, thx :) btw we're on node 20 now, so you can use the
built-in test runner if that helps... let me know if you need the logs, I've got them somewhere.`,
  'English technical': `Kubernetes reconciles the declared replicas with the observed pods; an autoscaler may overwrite spec.replicas
asynchronously. Idempotent webhooks, exponential backoff and jitter mitigate thundering herds. Serialization of
polymorphic discriminated unions requires explicit type annotations, otherwise deserializers misinterpret nullable
timestamps. Memoization, denormalization and backpressure are orthogonal optimisations.`,
  German: `Die Geschwindigkeitsbegrenzung auf der Umgehungsstraße wurde überraschenderweise aufgehoben, obwohl der Gemeinderat
noch im vergangenen Frühjahr größte Bedenken geäußert hatte. Für Fußgänger ändert sich dadurch zunächst wenig: Die
Ampelanlage bleibt, und auch der Zebrastreifen vor der Grundschule wird nicht zurückgebaut. Bürgermeisterin Müller
erklärte, man werde die Verkehrsentwicklung sorgfältig beobachten und gegebenenfalls nachsteuern.`,
  French: `Après avoir longuement hésité, la propriétaire décida de vendre l'hôtel où son père avait passé l'essentiel de sa vie.
Les acheteurs, arrivés dès l'aube, s'étonnaient qu'une bâtisse aussi délabrée fût encore habitée : des rideaux flottaient
aux fenêtres, une odeur de café montait de la cuisine, et quelqu'un, au deuxième étage, jouait du piano. « Vous
garderez bien le jardin ? » demanda-t-elle enfin, sans oser lever les yeux.`,
  Spanish: `El año pasado, según cuentan los vecinos, la panadería de la esquina cerró después de más de cuarenta años. Nadie quería
creerlo: allí se había reunido todo el barrio cada mañana, entre el olor del pan recién hecho y las conversaciones
sobre fútbol, política o lluvia. ¿Quién iba a imaginar que un pequeño cartel escrito a mano bastaría para despedirse?`,
  Portuguese: `Não há solução simples para a questão da habitação nas grandes cidades, mas algumas medidas já mostraram
resultados: a reabilitação de edifícios abandonados, a construção de residências públicas e a limitação dos alugueres de
curta duração. Ainda assim, muitos cidadãos continuam à espera de uma resposta que nunca mais chega.`,
  Italian: `La mattina del trasloco nessuno riusciva a trovare le chiavi della cantina. Si cercò nelle tasche dei cappotti, nei
cassetti, perfino dentro le scarpe; alla fine fu la nonna, ch'era rimasta seduta in silenzio accanto alla finestra, a
ricordare che le aveva prestate al portinaio. «Perché non l'hai detto subito?» le chiesero, ridendo, i nipoti.`,
  Dutch: `Gisteravond werd bekendgemaakt dat de gemeente het oude zwembad toch niet gaat slopen. De omwonenden hadden
maandenlang actiegevoerd en zelfs een petitie met drieduizend handtekeningen aangeboden. Volgens de wethouder is een
grondige verbouwing uiteindelijk goedkoper dan nieuwbouw, al blijft onduidelijk wie de energierekening betaalt.`,
  Polish: `W przyszłym tygodniu rozpocznie się przebudowa skrzyżowania, na którym od lat tworzą się ogromne korki. Mieszkańcy
pobliskich osiedli obawiają się hałasu i utrudnień, jednak urzędnicy zapewniają, że najuciążliwsze prace będą
prowadzone wyłącznie w ciągu dnia. Szczegółowy harmonogram zostanie opublikowany już wkrótce, prawdopodobnie w piątek.`,
  Czech: `Příští týden začne přestavba křižovatky, na které se už léta tvoří obrovské kolony. Obyvatelé okolních sídlišť se
obávají hluku, úředníci však ujišťují, že nejhlučnější práce budou probíhat výhradně přes den. Žluťoučký kůň úpěl
ďábelské ódy a všichni ostatní mlčeli.`,
  Turkish: `Önümüzdeki hafta başlayacak olan çalışmalar yüzünden köprünün bir bölümü trafiğe kapatılacak. Belediye yetkilileri,
sürücülerin alternatif güzergâhları kullanmalarını ve mümkünse toplu taşımayı tercih etmelerini istiyor. Şehirdeki
öğrencilerin çoğu zaten bisiklete biniyormuş, öyle söylüyorlar.`,
  Vietnamese: `Tuần tới, thành phố sẽ bắt đầu sửa chữa cây cầu cũ, vì vậy giao thông trong khu vực có thể bị ảnh hưởng. Người dân
được khuyến khích sử dụng phương tiện công cộng hoặc xe đạp. Nhiều người cho rằng đây là cơ hội tốt để giảm ùn tắc và ô
nhiễm không khí, nhưng cũng không ít ý kiến phản đối.`,
  Hungarian: `A jövő héten megkezdődik a régóta várt útfelújítás, amely miatt több hónapig korlátozásokra kell számítani. A
környékbeliek attól tartanak, hogy a munkálatok elviselhetetlen zajjal járnak majd, az önkormányzat szerint azonban
mindent megtesznek a kellemetlenségek csökkentéséért.`,
  Finnish: `Ensi viikolla alkavat kauan odotetut tietyöt aiheuttavat liikennejärjestelyjä useiden kuukausien ajan. Asukkaat
pelkäävät, että meteli häiritsee yöunia, mutta kaupungin edustajien mukaan äänekkäimmät työvaiheet tehdään ainoastaan
päiväsaikaan. Epäjärjestelmällistyttämättömyydellänsäkään ei ole väliä.`,
  Swedish: `Nästa vecka påbörjas den efterlängtade ombyggnaden av korsningen, där det i flera år har uppstått långa köer.
Boende i närheten är oroliga för bullret, men kommunen försäkrar att de mest störande arbetena bara kommer att utföras
på dagtid. Någon exakt tidplan finns ännu inte.`,
  Indonesian: `Minggu depan pemerintah kota akan memulai perbaikan jembatan lama sehingga lalu lintas di sekitarnya kemungkinan
terganggu. Masyarakat diimbau menggunakan angkutan umum atau bersepeda. Sebagian warga menganggapnya sebagai kesempatan
untuk mengurangi kemacetan dan pencemaran udara.`,
  Russian: `На следующей неделе начнётся реконструкция перекрёстка, на котором уже много лет образуются огромные пробки. Жители
соседних домов опасаются шума, однако чиновники уверяют, что самые громкие работы будут проводиться исключительно
днём. Подробное расписание, вероятно, опубликуют в пятницу. «Посмотрим», — вздохнула соседка.`,
  Ukrainian: `Наступного тижня розпочнеться реконструкція перехрестя, на якому вже багато років утворюються величезні затори.
Мешканці сусідніх будинків побоюються шуму, проте посадовці запевняють, що найгучніші роботи відбуватимуться винятково
вдень. Докладний розклад, імовірно, оприлюднять у п'ятницю.`,
  Greek: `Την επόμενη εβδομάδα ξεκινά η ανακατασκευή της διασταύρωσης, όπου εδώ και χρόνια δημιουργούνται τεράστιες ουρές. Οι
κάτοικοι της περιοχής φοβούνται τον θόρυβο, όμως ο δήμος διαβεβαιώνει ότι οι πιο θορυβώδεις εργασίες θα γίνονται
αποκλειστικά την ημέρα.`,
  Arabic: `ستبدأ في الأسبوع المقبل أعمال تطوير التقاطع الذي يشهد منذ سنوات ازدحامًا مروريًا خانقًا. ويخشى سكان الأحياء المجاورة من
الضوضاء، غير أن المسؤولين يؤكدون أن الأعمال الأكثر إزعاجًا ستُنفَّذ نهارًا فقط. ومن المرجح أن يُنشر الجدول التفصيلي
يوم الجمعة، بحسب ما قالته المتحدثة باسم البلدية.`,
  Persian: `هفته آینده بازسازی تقاطعی آغاز می‌شود که سال‌هاست ترافیک سنگینی در آن شکل می‌گیرد. ساکنان محله‌های اطراف نگران سر و صدا
هستند، اما مسئولان اطمینان می‌دهند که کارهای پرسروصدا تنها در طول روز انجام خواهد شد.`,
  Hebrew: `בשבוע הבא יתחילו העבודות לשיפוץ הצומת, שבו נוצרים כבר שנים רבות פקקים ארוכים. תושבי האזור חוששים מהרעש, אך בעירייה
מבטיחים שהעבודות הרועשות ביותר יתבצעו אך ורק בשעות היום. לוח הזמנים המפורט יפורסם ככל הנראה ביום שישי.`,
  Hindi: `अगले सप्ताह उस चौराहे का पुनर्निर्माण शुरू होगा, जहाँ वर्षों से लंबा जाम लगता है। आसपास के निवासियों को शोर की चिंता है, लेकिन
अधिकारियों का कहना है कि सबसे अधिक शोर वाला काम केवल दिन में किया जाएगा। विस्तृत कार्यक्रम संभवतः शुक्रवार को प्रकाशित होगा।`,
  Bengali: `আগামী সপ্তাহে সেই মোড়ের পুনর্নির্মাণ শুরু হবে, যেখানে বহু বছর ধরে দীর্ঘ যানজট লেগে থাকে। আশেপাশের বাসিন্দারা শব্দ নিয়ে
চিন্তিত, তবে কর্মকর্তারা বলছেন যে সবচেয়ে বেশি শব্দের কাজ কেবল দিনের বেলায় করা হবে।`,
  Tamil: `அடுத்த வாரம் அந்தச் சந்திப்பின் புனரமைப்புப் பணிகள் தொடங்கும். அங்கு பல ஆண்டுகளாக நீண்ட போக்குவரத்து நெரிசல் ஏற்படுகிறது.
சத்தம் குறித்து குடியிருப்பாளர்கள் கவலைப்படுகிறார்கள், ஆனால் பணிகள் பகலில் மட்டுமே நடைபெறும் என்று அதிகாரிகள் கூறுகின்றனர்.`,
  Thai: `สัปดาห์หน้าจะเริ่มปรับปรุงทางแยกที่มีรถติดยาวมานานหลายปี ชาวบ้านในละแวกใกล้เคียงกังวลเรื่องเสียงดัง แต่เจ้าหน้าที่ยืนยันว่างานที่มีเสียงดังที่สุดจะทำเฉพาะเวลากลางวันเท่านั้น กำหนดการโดยละเอียดน่าจะประกาศในวันศุกร์`,
  Georgian: `მომავალ კვირას დაიწყება გზაჯვარედინის რეკონსტრუქცია, სადაც უკვე მრავალი წელია უზარმაზარი საცობები წარმოიქმნება. მოსახლეობა
ხმაურის გამო წუხს, თუმცა ჩინოვნიკები ირწმუნებიან, რომ ყველაზე ხმაურიანი სამუშაოები მხოლოდ დღისით ჩატარდება.`,
  Armenian: `Հաջորդ շաբաթ կսկսվի խաչմերուկի վերակառուցումը, որտեղ արդեն երկար տարիներ հսկայական խցանումներ են առաջանում։
Բնակիչները վախենում են աղմուկից, սակայն պաշտոնյաները վստահեցնում են, որ աշխատանքները կկատարվեն միայն ցերեկը։`,
  Amharic: `በሚቀጥለው ሳምንት ለዓመታት ረጅም የትራፊክ መጨናነቅ የሚታይበት መንገድ እድሳት ይጀመራል። በአካባቢው የሚኖሩ ሰዎች ስለ ድምፁ ይጨነቃሉ፣ ነገር ግን ባለሥልጣናቱ ሥራው በቀን
ብቻ እንደሚከናወን ያረጋግጣሉ።`,
  Chinese: `下周将开始改造那个多年来一直严重拥堵的十字路口。附近的居民担心噪音，不过官员们保证，最吵闹的工程只会在白天进行。详细的时间表很可能在星期五公布。“到时候再看吧，”隔壁的老太太叹了口气，继续在阳台上给她的茉莉花浇水。`,
  'Traditional Chinese': `下週將開始改造那個多年來一直嚴重壅塞的十字路口。附近的居民擔心噪音，不過官員們保證，最吵鬧的工程只會在白天進行。詳細的時間表很可能在星期五公布，屆時請鄉親們踴躍提供寶貴意見。`,
  'Classical Chinese': `天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。寒來暑往，秋收冬藏。閏餘成歲，律呂調陽。雲騰致雨，露結為霜。金生麗水，玉出崑岡。劍號巨闕，珠稱夜光。果珍李柰，菜重芥薑。海鹹河淡，鱗潛羽翔。`,
  Japanese: `来週から、何年も前からひどい渋滞が続いている交差点の改修工事が始まります。近所の住民は騒音を心配していますが、担当者によれば、いちばんうるさい作業は日中だけに行われるそうです。詳しいスケジュールは金曜日に公開される見込みです。コーヒーを飲みながらゆっくり待ちましょう。`,
  Korean: `다음 주부터 몇 년째 극심한 정체가 이어지고 있는 교차로의 개선 공사가 시작됩니다. 인근 주민들은 소음을 걱정하고 있지만, 관계자들은 가장 시끄러운 작업은 낮에만 진행될 것이라고 약속했습니다. 자세한 일정은 금요일에 공개될 예정입니다.`,
  Emoji: `🎉🎉🎉 Wow!! 😂😂 that's 🔥🔥🔥 👍🏽👍🏽 see you at 🕗 🚀✨ 👩‍👩‍👧‍👦 family time 🇩🇪🇯🇵🏳️‍🌈 🤷🏻‍♀️ 🧑‍💻 → ✅ ❌ ⚠️ 🥑🦄🪐🫠🫶🏿 💯💯`,
};
